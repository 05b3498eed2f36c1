import Foundation
import Sluice
import Testing

/// An image created by Pillow, and its properties according to Pillow.
struct ImageSample: Sendable, CustomTestStringConvertible {
    let format: ImageFile.Format
    let width: Int
    let height: Int
    let name: String
    let data: Data

    var testDescription: String { "\(format), \(name)" }

    init(_ format: ImageFile.Format, _ width: Int, _ height: Int, _ name: String, _ base64: String) {
        self.format = format
        self.width = width
        self.height = height
        self.name = name
        data = Data(base64Encoded: base64) ?? Data()
    }

    static let all = [
        ImageSample(
            .png,
            3,
            2,
            "RGB",
            """
            iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAF0lEQVR4nGNkYIjSYGDQYGBgYbBhgAAADLIA7DCJLYEAAAAA\
            SUVORK5CYII=
            """
        ),
        ImageSample(
            .png,
            300,
            1,
            "one bit",
            """
            iVBORw0KGgoAAAANSUhEUgAAASwAAAABAQAAAABMQ66EAAAADklEQVR4nGMMZSAC/AYADecBUs07XoAAAAAASUVORK5CYII=
            """
        ),
        ImageSample(
            .jpeg,
            5,
            4,
            "baseline",
            """
            /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAKBueIx4ZKCMgoy0qqC+8P//8Nzc8P//////////////////////////////////\
            ////////////////////////2wBDAaq0tPDS8P//////////////////////////////////////////////////////////\
            ////////////////////wAARCAAEAAUDASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAA\
            AgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6\
            Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXG\
            x8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREA\
            AgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5\
            OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPE\
            xcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwACjFFFFIEf/9k=
            """
        ),
        ImageSample(
            .jpeg,
            17,
            9,
            "progressive with Exif",
            """
            /9j/4AAQSkZJRgABAQAAAQABAAD/4QAuRXhpZgAATU0AKgAAAAgAAgEOAAIAAAACeAAAAAESAAMAAAABAAYAAAAAAAD//gAN\
            /8Agbm8gZnJhbWX/2wBDAKBueIx4ZKCMgoy0qqC+8P//8Nzc8P//////////////////////////////////////////////\
            ////////////2wBDAaq0tPDS8P//////////////////////////////////////////////////////////////////////\
            ////////wgARCAAJABEDASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAIB/8QAFQEBAQAAAAAAAAAAAAAAAAAAAAH/\
            2gAMAwEAAhADEAAAAcUklQ//xAAUEAEAAAAAAAAAAAAAAAAAAAAg/9oACAEBAAEFAl//xAAUEQEAAAAAAAAAAAAAAAAAAAAQ\
            /9oACAEDAQE/AT//xAAUEQEAAAAAAAAAAAAAAAAAAAAQ/9oACAECAQE/AT//xAAUEAEAAAAAAAAAAAAAAAAAAAAg/9oACAEB\
            AAY/Al//xAAUEAEAAAAAAAAAAAAAAAAAAAAg/9oACAEBAAE/IV//2gAMAwEAAgADAAAAEM/f/8QAFhEBAQEAAAAAAAAAAAAA\
            AAAAABGx/9oACAEDAQE/ELiv/8QAFREBAQAAAAAAAAAAAAAAAAAAABH/2gAIAQIBAT8Qqv/EABoQAQADAAMAAAAAAAAAAAAA\
            AAEAETEQQVH/2gAIAQEAAT8QArGUVjKPGGTrj//Z
            """
        ),
        ImageSample(
            .gif,
            7,
            3,
            "87a",
            """
            R0lGODdhBwADAIQAAPB4Wsh4WqB4WvA8Wsg8WqA8Wnh4Wng8WvAAWsgAWqAAWngAWlB4Wih4WgB4WlA8Wig8WgA8WlAAWigA\
            WgAAWgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACwAAAAABwADAAAIGgApTJCwQEECBBEgPDhQgMAABw0YGBAQ\
            AEBAADs=
            """
        ),
        ImageSample(
            .gif,
            4,
            6,
            "89a, animated",
            """
            R0lGODlhBAAGAIAAAAAAAAAAACH5BAAKAAAALAAAAAAEAAYAAAgLAAEIHEiwoMGBAQEAOw==
            """
        ),
        ImageSample(
            .webp,
            11,
            5,
            "lossy",
            """
            UklGRjgAAABXRUJQVlA4ICwAAACwAQCdASoLAAUADMDOJbACdAD0LhHAAP1CYPjVdCqMM7sOfG/kLBbtGEJoAA==
            """
        ),
        ImageSample(
            .webp,
            13,
            8,
            "lossless",
            """
            UklGRiwAAABXRUJQVlA4TB8AAAAvDMABALmM6H/sIqL/ASEBYZj/0yQDBmW0YgKQspwBAA==
            """
        ),
        ImageSample(
            .webp,
            6,
            10,
            "extended, animated",
            """
            UklGRpgAAABXRUJQVlA4WAoAAAASAAAABQAACQAAQU5JTQYAAAAAAAAAAABBTk1GMgAAAAAAAAAAAAUAAAkAADIAAAJWUDhM\
            GQAAAC8FQAIQB1CBVAggAAoaAklbvO2Pj4jofwAAQU5NRjIAAAAAAAAAAAAFAAAJAAAyAAACVlA4TBoAAAAvBUACEAdQgSYo\
            BBAABQ2BpC3e9sdHRPQ/AA==
            """
        ),
    ]
}
