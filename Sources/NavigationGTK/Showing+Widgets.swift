#if canImport(CGTK)
  import CGTK
  public import Navigation

  // The few widgets that most screens begin with. They follow the state as long as their screen is shown. Every other widget is one of
  // GTK's functions, with `connect`, `observe` and `bind`.

  extension Showing {
    /// Creates a label. It shows another text when the state changes that the text is made of.
    ///
    ///     showing.label { "\(model.count) pieces" }
    ///
    /// - Parameter text: makes the text.
    public func label(_ text: @escaping @MainActor () -> String) -> Widget {
      let label = gtk_label_new(nil)!
      observe { gtk_label_set_text(OpaquePointer(label), text()) }
      return label
    }

    /// Creates a button.
    ///
    ///     showing.button("Add") { model.add() }
    ///
    /// - Parameters:
    ///   - title: the text on the button.
    ///   - action: called for each press.
    public func button(_ title: String, _ action: @escaping @MainActor () -> Void) -> Widget {
      let button = gtk_button_new_with_label(title)!
      connect(button, "clicked", action)
      return button
    }

    /// Creates a field for one line of text, which edits the state.
    ///
    ///     showing.entry($item.name)
    ///
    /// - Parameter text: the text.
    public func entry(_ text: Binding<String>) -> Widget {
      let entry = gtk_entry_new()!
      bind(entry, "text", to: text)
      return entry
    }

    /// Creates a field for a number, which edits the state.
    ///
    ///     showing.spinButton($item.count, in: 0...1000)
    ///
    /// - Parameters:
    ///   - number: the number.
    ///   - range: the numbers that can be entered.
    public func spinButton(_ number: Binding<Int>, in range: ClosedRange<Int>) -> Widget {
      let button = gtk_spin_button_new_with_range(Double(range.lowerBound), Double(range.upperBound), 1)!
      bind(button, "value", to: number)
      return button
    }

    /// Creates a list of texts. It has other rows when the state changes that they are made of.
    ///
    ///     showing.list {
    ///       model.items.map(\.name)
    ///     } onActivate: {
    ///       model.path.append(model.items[$0].id)
    ///     }
    ///
    /// - Parameters:
    ///   - rows: makes the texts.
    ///   - onActivate: called with the index of a row that the user has clicked, or chosen by a key.
    public func list(
      _ rows: @escaping @MainActor () -> [String], onActivate: @escaping @MainActor (_ index: Int) -> Void
    ) -> Widget {
      let list = gtk_list_box_new()!
      observe {
        while let row = gtk_widget_get_first_child(list) { gtk_list_box_remove(OpaquePointer(list), row) }
        for text in rows() { gtk_list_box_append(OpaquePointer(list), gtk_label_new(text)) }
      }
      connect(list, "row-activated") {
        let row = gtk_list_box_get_selected_row(OpaquePointer(list))
        if let row { onActivate(Int(gtk_list_box_row_get_index(row))) }
      }
      return list
    }

    /// Creates a bar with a button for each tag of a selection, of which the selected one is pressed.
    ///
    ///     showing.tabBar($model.tab, [.items: "Items", .totals: "Totals"])
    ///
    /// - Parameters:
    ///   - selection: the selected tag.
    ///   - titles: the titles of the tags, in their order.
    public func tabBar<Tag: Hashable & Codable>(
      _ selection: Binding<Tag?>, _ titles: KeyValuePairs<Tag, String>
    ) -> Widget {
      let buttons = titles.map { tag, title in
        let button = gtk_toggle_button_new_with_label(title)!
        connect(button, "clicked") { selection.wrappedValue = tag }
        observe { gtk_toggle_button_set_active(button.toggle, selection.wrappedValue == tag ? 1 : 0) }
        return button
      }
      // A press of the selected tab leaves it pressed.
      for button in buttons.dropFirst() { gtk_toggle_button_set_group(button.toggle, buttons[0].toggle) }
      let bar = Widget.box(GTK_ORIENTATION_HORIZONTAL, buttons, spacing: 0)
      gtk_widget_add_css_class(bar, "linked")
      return bar
    }
  }

  extension Widget {
    fileprivate var toggle: UnsafeMutablePointer<GtkToggleButton> {
      withMemoryRebound(to: GtkToggleButton.self, capacity: 1) { $0 }
    }

    /// Creates a box with these widgets, one below the other, and a margin.
    ///
    ///     .column(showing.label { model.text }, .row(cancel, save))
    @MainActor
    public static func column(_ children: Widget...) -> Widget {
      let column = box(GTK_ORIENTATION_VERTICAL, children)
      for setMargin in [
        gtk_widget_set_margin_top, gtk_widget_set_margin_bottom, gtk_widget_set_margin_start, gtk_widget_set_margin_end,
      ] { setMargin(column, 12) }
      return column
    }

    /// Creates a box with these widgets side by side, in the middle of the width.
    ///
    ///     .row(showing.button("−") { model.count -= 1 }, showing.button("+") { model.count += 1 })
    @MainActor
    public static func row(_ children: Widget...) -> Widget {
      let row = box(GTK_ORIENTATION_HORIZONTAL, children)
      gtk_widget_set_halign(row, GTK_ALIGN_CENTER)
      return row
    }

    @MainActor
    fileprivate static func box(_ orientation: GtkOrientation, _ children: [Widget], spacing: CInt = 12) -> Widget {
      let box = gtk_box_new(orientation, spacing)!
      for child in children { box.withMemoryRebound(to: GtkBox.self, capacity: 1) { gtk_box_append($0, child) } }
      return box
    }
  }
#endif
