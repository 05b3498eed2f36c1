import Foundation
import SluiceTesting
import Testing

@testable import Sluice

/// The ends that a request can have, at the places where it can have them, and what each gate is told: the table in
/// `Docs/Reliability.md`.
@Suite struct GateEndTests {
    @Test(arguments: EndRow.all)
    func gatesAreToldTheSameInEveryWay(_ row: EndRow) async {
        for way in Way.allCases {
            let told = await EndBench(row.setup, way).run()
            #expect(told == row.told, "\(way)")
            guard row.setup.cause == .totalTime else { continue }
            let toldAtDeadline = await EndBench(row.setup, way).run(isDeadline: true)
            #expect(toldAtDeadline == row.told, "\(way), deadline")
        }
    }

    @Test func tableOfThePageIsTheTableOfTheTest() throws {
        let root = (0..<5).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let page = try String(contentsOf: root.appending(path: "Docs/Reliability.md"), encoding: .utf8)
        let table = EndRow.all.map(\.line).joined(separator: "\n")
        #expect(page.contains("|---|---|---|---|---|\n\(table)\n\n"), "The table of the page must be:\n\(table)")
    }

    @Test func everyRowIsAnotherEnd() {
        #expect(Set(EndRow.all.map(\.testDescription)).count == EndRow.all.count)
    }
}
