import EventLoops
import Glibc
import PresentationModel

/// Sends requests to a compositor one after the other, each by a connection of its own: a connection that stays open blocks some
/// versions of Hyprland.
package final class RequestQueue: StreamSocketReader {
  /// The limit of commands without an answer; further ones are refused. The adapter's own requests are few, and not counted.
  private static let maxCommands = 1024
  /// The pause before another attempt to connect if too many other programs wait.
  private static let pause = Duration.milliseconds(10)

  private struct Request {
    let bytes: [UInt8]
    let isCommand: Bool
    let completion: ([UInt8]?) -> Void
  }

  private let path: String
  private let limit: Int
  private let loop: EventLoop
  private var waiting: [Request] = []
  private var current: (request: Request, socket: StreamSocket)?
  private var answer: [UInt8]? = []
  private var pausing: Timer?
  private var commands = 0

  /// - Parameter limit: the limit in bytes of an answer; a longer one is not kept.
  package init(_ path: String, limit: Int, _ loop: EventLoop) {
    self.path = path
    self.limit = limit
    self.loop = loop
  }

  /// Sends a request.
  /// - Parameter completion: called with the answer; nil if there is none, or if it is too long.
  package func ask(_ text: String, _ completion: @escaping ([UInt8]?) -> Void) {
    waiting.append(Request(bytes: Array(text.utf8), isCommand: false, completion: completion))
    next()
  }

  /// Sends commands, the later ones even if one is refused.
  /// - Parameter completion: called with all answers.
  func command(_ texts: [String], _ completion: @escaping ([[UInt8]?]) -> Void) throws(Refusal) {
    guard !texts.isEmpty else { return completion([]) }
    guard commands + texts.count <= Self.maxCommands else {
      throw Refusal(
        .limitExceeded,
        "expected at most \(Self.maxCommands) requests that the compositor has not answered, found more")
    }
    commands += texts.count
    let answers = Answers()
    for text in texts {
      waiting.append(
        Request(bytes: Array(text.utf8), isCommand: true) { answer in
          answers.all.append(answer)
          if answers.all.count == texts.count { completion(answers.all) }
        })
    }
    next()
  }

  private final class Answers {
    var all: [[UInt8]?] = []
  }

  private func next() {
    guard current == nil, pausing?.isPending != true, let request = waiting.first else { return }
    let socket: StreamSocket
    do throws(SystemError) {
      socket = try StreamSocket(path, loop, bufferSize: 64 << 10)
    } catch {
      if error.code == EAGAIN {
        pausing = loop.timer(after: Self.pause) { [weak self] in self?.next() }
      } else {
        waiting.removeFirst()
        // The work waits for the next turn, because callers do not expect the answer before the
        // call returns.
        loop.soon { [weak self] in
          self?.answered(request, nil)
          self?.next()
        }
      }
      return
    }
    waiting.removeFirst()
    current = (request, socket)
    answer = []
    socket.reader = self
    socket.send(request.bytes)
    socket.endSending()
  }

  func take(_ bytes: UnsafeRawBufferPointer) {
    guard let length = answer?.count, length + bytes.count <= limit else { return answer = nil }
    answer?.append(contentsOf: bytes)
  }

  func socketEnded(_ error: SystemError?) {
    guard let (request, _) = current else { return }
    current = nil
    answered(request, error == nil && answer?.isEmpty == false ? answer : nil)
    next()
  }

  private func answered(_ request: Request, _ answer: [UInt8]?) {
    if request.isCommand { commands -= 1 }
    request.completion(answer)
  }
}
