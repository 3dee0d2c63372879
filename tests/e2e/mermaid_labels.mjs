// Reads charts from standard input, a JSON list, and prints what Mermaid finds in each.
import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";

const { window } = new JSDOM("");
globalThis.window = window;
globalThis.document = window.document;
const { default: mermaid } = await import("mermaid");

// How Mermaid keeps entities until it draws them.
const text = (kept) => kept.replaceAll("ﬂ°°", "&#").replaceAll("ﬂ°", "&").replaceAll("¶ß", ";");

const read = async (chart) => {
  await mermaid.parse(chart);
  const { db } = await mermaid.mermaidAPI.getDiagramFromText(chart);
  const frames = db.getSubGraphs();
  // An arrow to a frame makes a box of the frame's id, which is not drawn.
  const drawn = [...db.getVertices().values()].filter((box) => !frames.some((frame) => frame.id === box.id));
  return {
    frames: frames.map((frame) => text(frame.title)),
    boxes: drawn.map((box) => text(box.text)),
    arrows: db.getEdges().map((arrow) => text(arrow.text)),
  };
};

const found = [];
for (const chart of JSON.parse(readFileSync(0, "utf8"))) found.push(await read(chart));
console.log(JSON.stringify(found));
