// Exports the types of PresentationModel that the library's API names as they are. With one of them, a program that imports
// `Navigation` alone also sees the members of the others, such as the cases of `NavigationPhase`.

@_exported public import enum PresentationModel.BusyPolicy
@_exported public import struct PresentationModel.Expectation
@_exported public import struct PresentationModel.PathElement
