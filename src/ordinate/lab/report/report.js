// What makes figures of a report tell their numbers: pointer, touch and arrow keys; nothing from outside.
// Every figure carries its readings as JSON (readings.py). Without scripts the figure is a plain figure.
(() => {
  "use strict";
  const make = (tag, name, text) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
  const percent = share => 100 * share + "%";
  const MOST = 8;

  const tip = make("div", "reading");
  tip.hidden = true;
  tip.setAttribute("role", "status");
  document.body.append(tip);

  // One line of a panel at one x: label, median with its interval, seeds, published.
  const tell = line => {
    const row = make("div", "line"), label = make("div", "label", line.label);
    label.style.setProperty("--mark", line.colour);
    row.append(label, make("div", "median", line.median));
    if (line.seeds) row.append(make("div", "seeds", "seeds: " + line.seeds.join("  ")));
    if (line.published) row.append(make("div", "seeds", "published: " + line.published));
    return row;
  };

  // On a phone a figure is as wide as the screen; its letters are as large as elsewhere when it is enlarged.
  const enlarge = plate => {
    const button = make("button", "enlarge", "Enlarge");
    button.type = "button";
    button.addEventListener("click", () => {
      const large = plate.querySelector(".drawing").classList.toggle("large");
      button.textContent = large ? "Fit the screen" : "Enlarge";
    });
    plate.before(button);
  };

  const wire = plate => {
    const panels = JSON.parse(plate.parentElement.querySelector("script").textContent);
    if (!panels.length) return;
    const drawing = plate.querySelector(".drawing");
    const guide = make("div", "guide");
    guide.hidden = true;
    drawing.append(guide);
    plate.setAttribute("aria-label", "Figure. Arrow keys read its values, Page Up and Page Down change the panel.");
    plate.after(make("p", "hint", "Point at the figure, or press the arrow keys in it, to read values."));
    let panel = 0, column = -1, row = 0;

    const hide = () => { tip.hidden = guide.hidden = true; drawing.querySelectorAll(".dot").forEach(d => d.remove()); };

    const place = (x, y) => {
      const frame = drawing.getBoundingClientRect(), wide = document.documentElement.clientWidth;
      const left = frame.left + x * frame.width, top = frame.top + y * frame.height;
      const size = tip.getBoundingClientRect();
      const beside = left + 16 + size.width < wide ? left + 16 : left - 16 - size.width;
      tip.style.left = clamp(beside, 8, Math.max(8, wide - size.width - 8)) + "px";
      tip.style.top = clamp(top - size.height / 2, 8, Math.max(8, innerHeight - size.height - 8)) + "px";
    };

    const mark = (left, top, width, height, name) => {
      guide.className = "guide " + name;
      guide.style.left = percent(left);
      guide.style.top = percent(top);
      guide.style.width = percent(width);
      guide.style.height = percent(height);
      guide.hidden = false;
    };

    const show = height => {
      hide();
      const now = panels[panel], box = now.box;
      tip.replaceChildren(make("div", "where", now.title));
      if (now.points) {
        const point = now.points[column];
        const trained = point.trained === null ? "" : point.trained ? ", in distribution" : ", out of distribution";
        tip.append(make("div", "x", now.x + " " + point.name + trained), make("div", "y", now.y));
        let lines = point.lines;
        if (lines.length > MOST) {
          const from = line => line.at === null ? 9 : Math.abs(line.at - height);
          lines = [...lines].sort((a, b) => from(a) - from(b)).slice(0, MOST);
          tip.append(make("div", "y", "the " + MOST + " nearest of " + point.lines.length));
        }
        tip.append(...lines.map(tell));
        mark(point.at, box[1], 0, box[3] - box[1], "");
        for (const line of lines) if (line.at !== null) {
          const dot = make("div", "dot");
          dot.style.left = percent(point.at);
          dot.style.top = percent(line.at);
          dot.style.setProperty("--mark", line.colour);
          drawing.append(dot);
        }
        tip.hidden = false;
        place(point.at, height);
      } else {
        const wide = (box[2] - box[0]) / now.columns.length, high = (box[3] - box[1]) / now.rows.length;
        const number = now.cells[row][column];
        tip.append(make("div", "x", now.y + " " + now.rows[row] + ", " + now.x + " " + now.columns[column]));
        tip.append(make("div", "median", number === null ? "none" : String(number)));
        mark(box[0] + column * wide, box[1] + row * high, wide, high, "cell");
        tip.hidden = false;
        place(box[0] + (column + 0.5) * wide, box[1] + (row + 0.5) * high);
      }
    };

    const point = event => {
      const frame = drawing.getBoundingClientRect();
      const x = (event.clientX - frame.left) / frame.width, y = (event.clientY - frame.top) / frame.height;
      const found = panels.findIndex(p => x >= p.box[0] && x <= p.box[2] && y >= p.box[1] && y <= p.box[3]);
      if (found < 0) return hide();
      panel = found;
      const now = panels[panel];
      if (now.points) {
        const far = now.points.map(p => Math.abs(p.at - x));
        column = far.indexOf(Math.min(...far));
      } else {
        const box = now.box, share = (v, low, high, n) => clamp(Math.floor((v - low) / (high - low) * n), 0, n - 1);
        column = share(x, box[0], box[2], now.columns.length);
        row = share(y, box[1], box[3], now.rows.length);
      }
      show(y);
    };

    const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    plate.addEventListener("keydown", event => {
      const now = panels[panel], step = event.key === "PageDown" ? 1 : event.key === "PageUp" ? -1 : 0;
      if (event.key === "Escape") return hide();
      if (step) {
        panel = (panel + step + panels.length) % panels.length;
        column = row = 0;
      } else if (event.key in MOVES) {
        const [across, down] = MOVES[event.key];
        column = clamp(column + across, 0, (now.points || now.columns).length - 1);
        row = now.points ? 0 : clamp(row + down, 0, now.rows.length - 1);
      } else return;
      event.preventDefault();
      const box = panels[panel].box;
      show((box[1] + box[3]) / 2);
    });
    drawing.addEventListener("pointermove", point);
    drawing.addEventListener("pointerdown", point);
    drawing.addEventListener("pointerleave", event => { if (event.pointerType === "mouse") hide(); });
    plate.addEventListener("blur", hide);
    addEventListener("scroll", hide, { passive: true });
  };
  document.querySelectorAll(".plate").forEach(plate => { enlarge(plate); wire(plate); });
})();
