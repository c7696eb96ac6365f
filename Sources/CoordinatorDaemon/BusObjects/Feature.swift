import PresentationModel
import PresentationRules

/// An event of the daemon, for the features that follow it.
enum Happening {
  /// navd serves a state that no event has led to.
  case resumed
  /// A presentation exists. Events about it follow.
  case created(Handle)
  case event(StateEvent, Change)
  /// The presenter of a presentation may know other facts about its program.
  case platformChanged(Handle)
  case destinationsChanged
  /// The changes of a turn, before they are recorded and announced.
  case changed(RecordChanges)
  case turnEnded
}

/// A part of the daemon that follows events: a file, and a line in the list of ``CoordinatorRoot``.
protocol Feature: AnyObject {
  func note(_ happening: Happening, in machine: borrowing StateMachine)
}
