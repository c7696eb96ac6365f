import Navigation

extension Demo {
  /// The program's window. Every screen presented from it is dismissed before it.
  func counterPage() -> Page {
    Page("Counter", on: terminal) { [counter] in
      ["\(counter.count)", "", "+ - count   f fact   n notes   ? help   h history   q quit"]
    } onKey: { [counter, notes] key, _ in
      switch key {
      case .character("+"): counter.count += 1
      case .character("-"): counter.count -= 1
      case .character("f"): counter.ask(about: counter.count)
      case .character("n"): notes.open()
      // This replaces the open panel.
      case .character("?"): counter.panel = counter.panel == .help ? nil : .help
      case .character("h"): counter.panel = counter.panel == .history ? nil : .history
      case .character("q"), .escape, .control("c"): counter.isOpen = false
      default: break
      }
    } onAppear: { [self] window in
      presentFact(from: window)
      presentPanels(from: window)
      presentReport(from: window)
      presentNotes(from: window)
    }
  }

  /// Presents an item while it is not nil, and replaces it when its id changes.
  private func presentFact(from window: Showing) {
    window.present(
      item: $counter.fact.named("fact"),
      options: { fact in PresentationOptions(style: "sheet", title: "A fact about \(fact.number)") }
    ) { [counter, notes, terminal] fact in
      // The binding reads the state at each drawing, so changes by other programs are shown, too.
      Page("A fact about \(fact.wrappedValue.number)", on: terminal) {
        [fact.wrappedValue.text, "", "n next   u upper case   k keep it in the notes   escape closes"]
      } onKey: { key, _ in
        switch key {
        case .character("n"): counter.ask(about: fact.wrappedValue.number + 1)
        case .character("u"): fact.text.wrappedValue = fact.text.wrappedValue.uppercased()
        case .character("k"):
          // The changes of one turn are one transaction: this page is dismissed, and the list of notes and the note are presented.
          let note = notes.add(fact.wrappedValue.text)
          counter.fact = nil
          notes.open(note.id)
        default: break
        }
      }
    }
  }

  /// Presents each panel while the selection is its tag.
  private func presentPanels(from window: Showing) {
    window.present(
      tag: .help, selection: $counter.panel.named("panel"), options: { PresentationOptions(title: "Help") }
    ) { [terminal] in
      Page("Help", .card, on: terminal) {
        ["navctl watch shows everything presented here, as it changes;", "navctl dismiss BINDING closes it."]
      }
    }
    window.present(
      tag: .history, selection: $counter.panel.named("panel"), options: { PresentationOptions(title: "History") }
    ) { [counter, terminal] in
      Page("History", .card, on: terminal) {
        [counter.asked.isEmpty ? "No facts asked for yet." : counter.asked.map(String.init).joined(separator: " ")]
      }
    }
  }

  private func presentReport(from window: Showing) {
    window.present(item: $counter.report.named("report"), options: { _ in PresentationOptions(style: "alert") }) {
      [terminal] report in
      Page("This cannot be shown", on: terminal) { [report.wrappedValue.text, "", "escape closes"] }
    }
  }
}
