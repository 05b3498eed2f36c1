/// The script of the page. It opens details and applies filters. Without it, the page shows the same recording.
enum Script {
    /// The SHA-256 of ``source`` in Base64, by which the policy of the page allows this script and no other.
    ///
    /// Chromium prints the hash of a script that the policy does not allow.
    static let hash = "E/7KJsOutEWmLnVR+Z2/mAmb+fZxPivtsHqATqMTw34="

    static let source: HTML = """
        "use strict";
        (() => {
          const origins = {};
          // With scripts, the content of noscript is text, which costs nothing until it is shown.
          document.addEventListener("toggle", event => {
            const source = event.target.open && event.target.querySelector(":scope > noscript");
            if (!source) return;
            const holder = document.createElement("template");
            holder.innerHTML = source.textContent;
            source.replaceWith(holder.content);
          }, true);
          const url = row => {
            const of = name => row.querySelector("." + name)?.textContent ?? "";
            return (origins[row.dataset.o] || of("host")) + of("path") + of("query");
          };
          document.addEventListener("pointerover", event => {
            const name = event.target.closest?.(".name");
            if (name && !name.title) name.title = url(name.closest(".row"));
          });

          const form = document.getElementById("filter");
          if (!form) return;
          const fields = form.elements, output = form.querySelector("output");
          for (const option of fields.origin.options) {
            if (option.value) origins[option.value] = option.text.replace(/ \\([\\d,]+\\)$/, "");
          }
          const texts = (row, name) => Array.from(row.querySelectorAll(name), element => element.textContent);
          let groups;
          const read = () => Array.from(document.querySelectorAll(".group"), element => ({
            element, part: element.closest(".part"), time: +element.dataset.t, isShown: true,
            rows: Array.from(element.children, row => {
              const method = row.querySelector(".method").textContent;
              const labels = texts(row, ".pill, .cross, .tag");
              return {
                method, origin: row.dataset.o,
                statuses: texts(row, ".pill").map(text => /^\\d/.test(text) ? text[0] : "0"),
                text: [method, url(row), ...labels].join(" ").toLowerCase()
              };
            })
          }));
          const count = number => number.toLocaleString("en");
          const apply = () => {
            groups ??= read();
            const words = fields.text.value.toLowerCase().split(/\\s+/).filter(Boolean);
            const [status, method, origin] = [fields.status.value, fields.method.value, fields.origin.value];
            const least = +fields.time.value;
            const show = document.querySelector("input[name=show]:checked")?.value ?? "all";
            const matches = row => (!status || row.statuses.includes(status)) && (!method || row.method === method)
              && (!origin || row.origin === origin) && words.every(word => row.text.includes(word));
            const parts = new Map();
            let shown = 0;
            for (const group of groups) {
              const isShown = group.time >= least && group.rows.some(matches);
              if (isShown !== group.isShown) {
                group.isShown = isShown;
                group.element.hidden = !isShown;
              }
              const isCounted = isShown && (show === "all" || group.element.classList.contains(show));
              if (isCounted) shown += 1;
              parts.set(group.part, (parts.get(group.part) ?? 0) + (isCounted ? group.rows.length : 0));
            }
            for (const [part, rows] of parts) {
              part.hidden = rows === 0;
              part.style.setProperty("--shown", rows);
            }
            const isFiltered = shown < groups.length;
            output.textContent = isFiltered ? `${count(shown)} of ${count(groups.length)} shown` : "";
            document.body.classList.toggle("nothing", shown === 0);
          };
          form.addEventListener("input", apply);
          form.addEventListener("reset", () => setTimeout(apply));
          form.addEventListener("submit", event => event.preventDefault());
          for (const show of document.querySelectorAll(".show")) show.addEventListener("change", apply);
          form.hidden = false;

          const neighbour = (summary, step) => {
            const all = Array.from(document.querySelectorAll(".group:not([hidden]) > .row > summary"));
            for (let index = all.indexOf(summary) + step; all[index]; index += step) {
              if (all[index].getClientRects().length > 0) return all[index];
            }
          };
          document.addEventListener("keydown", event => {
            if (event.ctrlKey || event.metaKey || event.altKey) return;
            const target = event.target;
            if (event.key === "/" && !target.closest("input, select, textarea")) {
              event.preventDefault();
              fields.text.focus();
            } else if (event.key === "Escape" && target.closest("form") === form) {
              form.reset();
              apply();
            } else if (target.matches("summary") && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
              const next = neighbour(target, event.key === "ArrowDown" ? 1 : -1);
              if (!next) return;
              event.preventDefault();
              next.focus();
            }
          });
        })();
        """
}
