#if os(Linux)
import Foundation
import Sluice
import Testing

@testable import SluiceRedis

/// The attempts to save a token, without a server.
struct TokenSavesTests {
    private static let (old, new) = (OAuth2.Token(accessToken: "old"), OAuth2.Token(accessToken: "new"))

    @Test func failedTokenIsSavedAgainUntilThatSucceeds() {
        var saves = TokenSaves()
        saves.requestBegins(saving: Self.old)
        saves.failed()
        saves.requestEnds()
        for _ in 0..<3 {
            #expect(saves.goesOn)
            #expect(saves.nextAttempt() == Self.old)
            saves.failed()
        }
        #expect(saves.nextAttempt() == Self.old)
        saves.saved(Self.old)
        #expect(saves.unsaved == nil && !saves.goesOn)
        #expect(saves.nextAttempt() == nil)
    }

    @Test func backgroundBeginsNothingWhileARequestSaves() {
        var saves = TokenSaves()
        saves.requestBegins(saving: Self.old)
        #expect(saves.nextAttempt() == nil)
        #expect(saves.goesOn && saves.hasRequests)
        saves.failed()
        #expect(saves.nextAttempt() == nil)
        saves.requestEnds()
        #expect(saves.goesOn, "The failure of the request is not forgotten.")
        #expect(saves.nextAttempt() == Self.old)
        #expect(!saves.goesOn)
    }

    @Test func attemptForAnOlderTokenDoesNotSaveTheNewerOne() {
        var saves = TokenSaves()
        saves.requestBegins(saving: Self.old)
        saves.failed()
        saves.requestEnds()
        #expect(saves.nextAttempt() == Self.old)
        // A user signs in meanwhile.
        saves.requestBegins(saving: Self.new)
        saves.saved(Self.old)
        #expect(saves.unsaved == Self.new && saves.goesOn)
        saves.saved(Self.new)
        saves.requestEnds()
        #expect(saves.unsaved == nil && !saves.goesOn)
    }

    @Test func deletionLeavesNothingToSave() {
        var saves = TokenSaves()
        saves.requestBegins(saving: Self.old)
        saves.failed()
        saves.requestEnds()
        saves.requestBegins(saving: nil)
        #expect(saves.unsaved == nil)
        saves.requestEnds()
        #expect(saves.nextAttempt() == nil && !saves.goesOn)
    }
}
#endif
