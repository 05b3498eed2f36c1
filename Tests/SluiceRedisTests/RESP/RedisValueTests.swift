import Foundation
import SluiceRedis
import Testing

struct RedisValueTests {
    @Test(arguments: [
        ("ERR no such key", "ERR", "no such key"), ("WRONGTYPE", "WRONGTYPE", ""), ("", "ERR", ""),
        ("no prefix", "ERR", "no prefix"), ("Error here", "ERR", "Error here"), ("MOVED 1 h:1", "MOVED", "1 h:1"),
    ])
    func errorsHaveAPrefix(text: String, prefix: String, message: String) {
        let error = RedisReplyError(text)
        #expect(error.prefix == prefix)
        #expect(error.message == message)
    }

    /// The text of an error in a script, as servers before Redis 7 send it.
    private static func scriptError(_ text: String) -> String {
        "ERR Error running script (call to f_6b1bf486c81ceb7edf3c093f4c48582e38c0e791): \(text)"
    }

    private static let errorsInScripts: [(text: String, code: RedisError.Code)] = [
        (scriptError("@user_script:12: @user_script: 12: -READONLY You can't write against a replica."), .readOnly),
        (scriptError("@user_script: 3: -OOM command not allowed when used memory > 'maxmemory'."), .outOfMemory),
        (scriptError("@user_script:3: -LOADING Redis is loading the dataset in memory"), .loading),
        (scriptError("@user_script:1: WRONGTYPE Operation against a key"), .refused),
        (scriptError("@user_script:1: user_script:1: attempt to index a nil value"), .refused),
        (scriptError("@user_script:x: -READONLY"), .refused),
        (scriptError("@user_script:"), .refused),
        (scriptError(""), .refused),
        ("ERR Error running script (call to f_1", .refused),
        ("READONLY You can't write against a read only replica. script: 6b1b, on @user_script:1.", .readOnly),
        ("ERR the value is -READONLY", .refused),
        ("ERR @user_script:1: -READONLY", .refused),
    ]

    @Test(arguments: errorsInScripts)
    func errorInAScriptHasTheCodeOfItsCause(text: String, code: RedisError.Code) {
        #expect(RedisError(RedisReplyError(text)).code == code)
        #expect(RedisError(RedisReplyError(text)).reply == RedisReplyError(text))
    }

    @Test func descriptionsOfErrorsShowNoArguments() {
        let error = RedisReplyError("ERR unknown command 'AUHT', with args beginning with: 'shop' 'hunter2' ")
        #expect("\(error)" == "ERR unknown command 'AUHT'")
    }

    @Test func integersAreReadFromAllFormsThatServersUse() {
        #expect(RedisValue.integer(5).int == 5)
        #expect(RedisValue.text("-5").int == -5)
        #expect(RedisValue.boolean(true).int == 1)
        #expect(RedisValue.text("5.0").int == nil)
        #expect(RedisValue.null.int == nil)
        #expect(RedisValue.bytes(Data([0xFF])).string == nil)
        #expect(RedisValue.set([.null]).elements == [.null])
    }
}
