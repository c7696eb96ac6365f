import Testing

@testable import TextFormats

// Typography in the locale C: ASCII in place of quotes and dashes, and names as they are.

@Test("Messages in the locale C have ASCII quotes, and keep the characters of names")
func typography_inASCII_replacesOnlyItsOwn() {
  #expect(Typography.inASCII("expected “a” – found ‘é日’…") == "expected \"a\" - found 'é日'...")
  #expect(Typography.inASCII("plain") == "plain")
}
