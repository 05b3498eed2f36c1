/// The style sheet of the page, for light and dark mode.
enum Stylesheet {
    static let css: HTML = """
        :root {
          --bg: #f4f6f8; --card: #ffffff; --ink: #171b22; --muted: #59636f; --line: #e2e6eb; --grid: #edf0f3; --hover: #f5f8fb;
          --accent: #2563d9; --ok: #16794a; --ok-bg: #dff5e8; --moved: #1f5fc4; --moved-bg: #e2edfd; --refused: #92560a;
          --refused-bg: #fdf0d5; --bad: #b3261e; --bad-bg: #fde5e3; --tint: #fff6f5;
          --blocked: #a7b1bd; --dns: #0f9d94; --connect: #ec8b1e; --tls: #9a55d3; --send: #d6478a; --wait: #35a566; --receive: #3a76e8;
          --mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --bg: #0e1116; --card: #161a21; --ink: #e8ecf1; --muted: #9aa5b2; --line: #2a313b; --grid: #20262e; --hover: #1b2129;
            --accent: #6ea8ff; --ok: #62d394; --ok-bg: #12301f; --moved: #82b4ff; --moved-bg: #16294a; --refused: #f2b95c;
            --refused-bg: #38280d; --bad: #ff8d85; --bad-bg: #421a19; --tint: #1f1718;
            --blocked: #5f6b79; --dns: #2cc4b8; --connect: #f5a244; --tls: #b98bee; --send: #ee77ad; --wait: #48c57f; --receive: #5f98fa;
          }
        }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; }
        body {
          margin: 0; background: var(--bg); color: var(--ink);
          font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
          font-variant-numeric: tabular-nums;
        }
        main { max-width: 1680px; margin: 0 auto; padding: 28px clamp(12px, 2.5vw, 36px) 48px; }
        h1, h2, h3, p, dl, dd, ol, ul, pre, fieldset { margin: 0; padding: 0; border: 0; }
        ol, ul { list-style: none; }
        h1 { font-size: 24px; line-height: 1.2; letter-spacing: -.015em; overflow-wrap: anywhere; }
        h2 { font-size: 14px; font-weight: 650; }
        h3 { font-size: 11px; font-weight: 650; letter-spacing: .05em; text-transform: uppercase; color: var(--muted); margin-bottom: 8px; }
        .sub, .remark { color: var(--muted); }
        .sub { margin-top: 4px; }
        .card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
        .top { display: flex; flex-wrap: wrap; gap: 18px 32px; align-items: flex-end; margin-bottom: 18px; }
        .names { flex: 1 1 260px; min-width: 0; }
        .stats { display: flex; flex-wrap: wrap; gap: 10px; }
        .tile { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 10px 16px 9px; min-width: 104px; flex: 1 0 auto; }
        .tile dt { font-size: 12px; color: var(--muted); }
        .tile dd { font-size: 21px; line-height: 1.25; font-weight: 650; letter-spacing: -.015em; white-space: nowrap; }
        .tile small { display: block; font-size: 12px; line-height: 1.35; font-weight: 400; letter-spacing: 0; color: var(--muted); }
        .tile.bad { background: var(--bad-bg); border-color: transparent; }
        .tile.bad dt, .tile.bad dd, .tile.bad small { color: var(--bad); }
        .tile.good dd { color: var(--ok); }
        .tile.good small { color: var(--muted); }
        .shares { padding: 14px 18px; margin-bottom: 14px; }
        .sharebar { display: block; border-radius: 5px; margin: 10px 0 12px; background: var(--grid); overflow: hidden; }
        .legend { display: flex; flex-wrap: wrap; gap: 6px 22px; font-size: 12.5px; }
        .legend li { display: flex; align-items: baseline; gap: 7px; white-space: nowrap; }
        .legend b { font-weight: 600; }
        .legend span { color: var(--muted); }
        .legend em { font-style: normal; font-weight: 600; }
        .legend .none { opacity: .75; }
        .key { display: inline-block; width: 10px; height: 10px; border-radius: 2.5px; flex: none; }
        .p-blocked { --phase: var(--blocked); } .p-dns { --phase: var(--dns); } .p-connect { --phase: var(--connect); }
        .p-tls { --phase: var(--tls); } .p-send { --phase: var(--send); } .p-wait { --phase: var(--wait); }
        .p-receive { --phase: var(--receive); }
        rect[class^="p-"] { fill: var(--phase); } i[class*="p-"] { background: var(--phase); }
        .chart { overflow: clip; --columns: minmax(220px, 27%) 62px 70px minmax(0, 1fr); }
        .bar { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: center; justify-content: space-between; padding: 12px 18px; }
        .chart > .remark, .empty { padding: 0 18px 12px; }
        .empty { padding: 40px 18px; text-align: center; color: var(--muted); }
        .shows { display: inline-flex; flex-wrap: wrap; padding: 3px; gap: 2px; background: var(--grid); border-radius: 9px; }
        .show { position: absolute; opacity: 0; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        .shows label { padding: 3px 11px; border-radius: 7px; font-size: 12.5px; cursor: pointer; color: var(--muted); }
        .shows label span { opacity: .8; margin-left: 2px; }
        .shows .none { opacity: .55; cursor: default; }
        \(ShowView.css)
        [hidden] { display: none !important; }
        .filter { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; padding: 0 18px 12px; }
        .filter input, .filter select, .filter button {
          font: inherit; font-size: 13px; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 8px;
          height: 30px; padding: 0 9px; max-width: 100%; min-width: 0;
        }
        .filter input { flex: 1 1 240px; max-width: 420px; }
        .filter select { max-width: 230px; text-overflow: ellipsis; }
        .filter button { cursor: pointer; color: var(--muted); }
        .filter :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
        .filter output { color: var(--muted); font-size: 12.5px; }
        .nothing .chart::after {
          content: "Nothing matches."; display: block; padding: 32px 18px; text-align: center; color: var(--muted);
          border-top: 1px solid var(--line);
        }
        .axis, summary { display: grid; grid-template-columns: var(--columns); align-items: center; padding: 0 18px; }
        .axis {
          position: sticky; top: 0; z-index: 2; background: var(--card); color: var(--muted); font-size: 12px;
          border-bottom: 1px solid var(--line); border-top: 1px solid var(--line);
        }
        .ticks, .bars {
          display: block; overflow: visible; align-self: stretch;
          background: repeating-linear-gradient(to right, var(--grid) 0 1px, transparent 1px var(--tick));
        }
        .ticks text { fill: var(--muted); font-size: 11px; }
        .overview { padding: 2px 18px 8px; }
        .strip { display: block; border-bottom: 1px solid var(--line);
          background: repeating-linear-gradient(to right, var(--grid) 0 1px, transparent 1px var(--tick)); }
        .strip .other { fill: var(--receive); opacity: .75; } .strip .failed { fill: var(--bad); }
        .strip .way { fill: var(--accent); fill-opacity: 0; cursor: pointer; }
        .strip a:hover .way, .strip a:focus-visible .way { fill-opacity: .14; }
        .strip a:focus-visible { outline: 2px solid var(--accent); }
        .part { scroll-margin-top: 0; }
        .group + .group { border-top: 1px solid var(--grid); }
        .groups { content-visibility: auto; contain-intrinsic-height: calc(var(--shown, var(--rows)) * var(--height)); --height: 30px; }
        .bars { width: 100%; height: 30px; }
        .bars rect { y: 9px; height: 12px; rx: 1.5px; } .bars .p-blocked { y: 13px; height: 4px; }
        .bars text { transform: translateY(19px); }
        summary { height: 30px; cursor: pointer; list-style: none; }
        summary::-webkit-details-marker { display: none; }
        summary { background: var(--row, transparent); }
        summary:hover, .row[open] > summary { --row: var(--hover); }
        summary:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; border-radius: 6px; }
        .cell { min-width: 0; padding-right: 12px; }
        .cell.size { text-align: right; padding-right: 16px; color: var(--muted); font-size: 12.5px; white-space: nowrap; }
        .axis .cell.size { font-size: 12px; }
        .name { display: flex; align-items: baseline; gap: 7px; overflow: hidden; white-space: nowrap; }
        .name::before {
          content: ""; flex: none; width: 0; height: 0; border: 4px solid transparent; border-left: 5px solid var(--muted);
          border-right: 0; align-self: center; opacity: .55;
        }
        .row[open] .name::before { border: 4px solid transparent; border-top: 5px solid var(--muted); border-bottom: 0; margin-right: -3px; }
        .row + .row .name { padding-left: 14px; }
        .method { font: 600 11px/1 var(--mono); color: var(--muted); letter-spacing: .01em; max-width: 74px; overflow: hidden; text-overflow: ellipsis; flex: none; }
        .url { min-width: 0; overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; direction: ltr; }
        .path { font-weight: 550; }
        .query { color: var(--muted); }
        .host { color: var(--muted); margin-left: 9px; font-size: 12px; }
        .tag { flex: none; font-size: 11px; line-height: 1; padding: 3px 6px; border-radius: 5px; background: var(--grid); color: var(--muted); }
        .pill { display: inline-block; min-width: 42px; text-align: center; font-size: 12px; line-height: 1; font-weight: 650; padding: 4px 6px; border-radius: 6px; }
        .ok .pill { color: var(--ok); background: var(--ok-bg); }
        .moved .pill { color: var(--moved); background: var(--moved-bg); }
        .refused .pill { color: var(--refused); background: var(--refused-bg); }
        .error .pill { color: var(--bad); background: var(--bad-bg); }
        .left .pill { color: var(--muted); background: var(--grid); }
        .row.error > summary { --row: var(--tint); box-shadow: inset 3px 0 var(--bad); }
        .row.error > summary:hover { --row: var(--bad-bg); }
        .bars text { fill: var(--muted); font-size: 11.5px; paint-order: stroke; stroke: var(--row, var(--card)); stroke-width: 4px; stroke-linejoin: round; }
        .bars text.before { text-anchor: end; }
        .bars text.within { fill: var(--ink); font-weight: 600; }
        .bars .cross { fill: var(--bad); font-weight: 600; }
        .left .cross { fill: var(--muted); }
        .bars rect:hover { filter: brightness(1.12); }
        .link { stroke: var(--muted); stroke-width: 1.25; stroke-dasharray: 2.5 2.5; opacity: .8; }
        .detail { padding: 14px 18px 20px 32px; border-top: 1px solid var(--grid); background: var(--hover); }
        .failure { color: var(--bad); background: var(--bad-bg); padding: 8px 12px; border-radius: 8px; margin-bottom: 14px; overflow-wrap: anywhere; }
        .columns { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 380px), 1fr)); gap: 18px 36px; }
        .columns section { min-width: 0; }
        .columns .wide { grid-column: 1 / -1; }
        .timing { border-collapse: collapse; width: 100%; }
        .timing th { text-align: left; font-weight: 400; padding: 2px 12px 2px 0; white-space: nowrap; }
        .timing .key { margin-right: 8px; }
        .timing .mini { width: 70%; }
        .timing .mini { background: linear-gradient(var(--grid), var(--grid)) center / 100% 10px no-repeat; position: relative; }
        .timing .mini i { position: absolute; top: calc(50% - 5px); height: 10px; border-radius: 1.5px; }
        .timing .figure { text-align: right; padding-left: 12px; white-space: nowrap; }
        .timing .gate th, .timing .gate td { color: var(--muted); font-size: 12.5px; }
        .timing .sum th, .timing .sum td { font-weight: 650; padding-top: 5px; }
        .facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 14px; }
        .facts dt { color: var(--muted); max-width: 190px; overflow-wrap: anywhere; }
        .facts dd { overflow-wrap: anywhere; white-space: pre-wrap; unicode-bidi: isolate; }
        .facts.mono { font: 12px/1.55 var(--mono); }
        pre {
          font: 12px/1.5 var(--mono); background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 12px;
          max-height: 320px; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere;
        }
        .caption { font-size: 12.5px; margin-top: 8px; } .caption em { font-style: normal; color: var(--muted); margin-left: 4px; }
        .caption + .sharebar { margin: 4px 0 10px; }
        .compared { --columns: minmax(200px, 27%) 96px 84px minmax(0, 1fr); }
        .compared summary { height: 44px; } .compared .bars { height: 44px; } .compared .groups { --height: 45px; }
        .compared .bars .was rect { y: 8px; height: 8px; opacity: .45; } .compared .bars .was text { transform: translateY(15px); }
        .compared .bars .is rect { y: 23px; height: 12px; } .compared .bars .is text { transform: translateY(33px); fill: var(--ink); }
        .compared .status s { text-decoration: none; opacity: .7; } .compared .status s::after { content: "→"; margin: 0 3px; }
        .compared .pill { min-width: 34px; padding: 4px; }
        .group.slower .cell.size { color: var(--bad); font-weight: 650; } .group.faster .cell.size { color: var(--ok); font-weight: 650; }
        .group.gone .url { text-decoration: line-through; text-decoration-color: var(--muted); }
        .group.added .tag { color: var(--moved); background: var(--moved-bg); } .group.gone .tag { color: var(--refused); background: var(--refused-bg); }
        .sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 20px; }
        .sides > section { min-width: 0; } .sides h2 { margin-bottom: 8px; } .sides .detail { padding: 0; border: 0; background: none; }
        .sides .detail + .detail { margin-top: 18px; padding-top: 18px; border-top: 1px solid var(--line); }
        .sides .columns { grid-template-columns: minmax(0, 1fr); }
        @media (max-width: 820px) {
          main { padding-top: 18px; }
          h1 { font-size: 21px; }
          .tile { padding: 8px 12px; min-width: 92px; }
          .tile dd { font-size: 18px; }
          .legend span { display: none; }
          .axis .cell { display: none; }
          .axis { grid-template-columns: minmax(0, 1fr); }
          .ticks .odd { display: none; }
          summary { grid-template-columns: minmax(0, 1fr) auto auto; height: auto; padding-top: 5px; }
          .axis, summary, .bar, .filter, .shares, .overview { padding-left: 12px; padding-right: 12px; }
          .bars { grid-column: 1 / -1; }
          .cell.status { padding-right: 8px; }
          .cell.size { padding-right: 0; min-width: 54px; }
          .groups { --height: 60px; }
          .detail { padding: 12px; }
        }
        @media print { .shows, .filter { display: none; } .axis { position: static; } .groups { content-visibility: visible; } }
        """
}
