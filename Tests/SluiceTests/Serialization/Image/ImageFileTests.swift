import Foundation
import Sluice
import SluiceTesting
import Testing

@Suite struct ImageFileTests {
    @Test(arguments: ImageSample.all)
    func readsFormatAndSizeFromHeader(_ sample: ImageSample) throws {
        let image = try ImageFile(data: sample.data)
        #expect(image.format == sample.format)
        #expect(image.width == sample.width)
        #expect(image.height == sample.height)
        #expect(image.data == sample.data)
    }

    @Test(arguments: ImageSample.all)
    func readsSliceOfData(_ sample: ImageSample) throws {
        let slice = (Data([1, 2, 3]) + sample.data + Data([4]))[3..<3 + sample.data.count]
        #expect(slice.startIndex == 3)
        let image = try ImageFile(data: slice)
        #expect(image == (try ImageFile(data: sample.data)))
        for end in slice.indices { _ = try? ImageFile(data: slice[..<end]) }
    }

    @Test(arguments: ImageSample.all)
    func rejectsHeaderTruncatedAtAnyByte(_ sample: ImageSample) throws {
        let lengths = 0..<sample.data.count
        let shortest = try #require(lengths.first { (try? ImageFile(data: sample.data.prefix($0))) != nil })
        for length in lengths {
            let result = Result { () throws(SluiceError) in try ImageFile(data: sample.data.prefix(length)) }
            switch result {
            case .success(let image):
                #expect(length >= shortest)
                #expect(image.width == sample.width && image.height == sample.height)
            case .failure(let failure):
                #expect(length < shortest, "a longer prefix fails although a shorter one was read")
                #expect(failure.reason.hasPrefix("The data is not a valid "))
                #expect(failure.reason.hasSuffix("."))
            }
        }
        let known = [ImageFile.Format.png: 33, .gif: 13, .webp: sample.name == "lossless" ? 25 : 30]
        #expect(known[sample.format].map { $0 == shortest } ?? (shortest > 100))
    }

    @Test(arguments: ImageSample.all)
    func mutatedDataDoesNotTrap(_ sample: ImageSample) {
        var generator = SeededGenerator(seed: 9649)
        let header = min(sample.data.count, 640)
        var failures = 0
        for _ in 0..<3000 {
            var data = sample.data
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let edge: UInt8? = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &generator)
                let any = UInt8.random(in: .min ... .max, using: &generator)
                data[Int.random(in: 0..<header, using: &generator)] = Bool.random(using: &generator) ? edge ?? 0 : any
            }
            if Bool.random(using: &generator) { data = data.prefix(Int.random(in: 0...data.count, using: &generator)) }
            do throws(SluiceError) {
                let image = try ImageFile(data: data)
                #expect(image.width > 0 && image.height > 0)
            } catch {
                failures += 1
            }
        }
        #expect(failures > 0)
    }
}
