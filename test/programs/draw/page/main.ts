/** Runs in the browser: lays a sheet out as Grafana would, and draws it. Sets `data-drawn` on the body at the end. */
import { drawGraph } from './graph.js';
import type { Bar, Drawing, Figure, Sheet } from './sheet.js';

declare const document: any;

const column = 50;
const unit = 30;
const gap = 6;

const make = (parent: any, name: string, text = '', kind = 'div') => {
  const element = document.createElement(kind);
  element.className = name;
  element.textContent = text;
  parent.append(element);
  return element;
};

function draw(sheet: Sheet): void {
  const head = make(document.body, 'head');
  make(head, 'title', sheet.title);
  make(head, 'subtitle', sheet.subtitle);
  const grid = make(document.body, 'grid');
  grid.style.height = `${sheet.height * unit}px`;
  for (const { title, y } of sheet.rows) {
    const row = make(grid, 'row', title);
    row.style.top = `${y * unit}px`;
  }
  for (const drawing of sheet.panels) drawPanel(grid, drawing);
  make(document.body, 'caption', sheet.caption);
  document.body.dataset.drawn = 'yes';
}

function drawPanel(grid: any, drawing: Drawing): void {
  const { x, y, w, h } = drawing.place;
  const panel = make(grid, 'panel');
  const [width, height] = [w * column - gap, h * unit - gap];
  Object.assign(panel.style, {
    left: `${x * column}px`,
    top: `${y * unit}px`,
    width: `${width}px`,
    height: `${height}px`,
  });
  const title = make(panel, 'panel-title', drawing.title);
  const body = make(panel, 'body');
  const room = { width: width - 14, height: height - 8 - title.offsetHeight };
  if (drawing.absent !== undefined) make(body, 'absent', drawing.absent);
  if (drawing.text !== undefined) make(body, 'text', drawing.text);
  if (drawing.figures) drawFigures(body, drawing.figures, room.height, w > h * 1.4);
  if (drawing.bars) for (const bar of drawing.bars) drawBar(body, bar);
  if (drawing.table) drawTable(body, drawing.table);
  if (drawing.graph) drawGraph(body, drawing.graph, room, make);
}

/** The colour of Grafana's background where a figure is filled: its text is white then. */
function drawFigures(body: any, figures: Figure[], height: number, isWide: boolean): void {
  const all = make(body, 'figures');
  all.style.height = `${height}px`;
  all.style.flexDirection = isWide ? 'row' : 'column';
  for (const { name, text, color, isFilled, spark } of figures) {
    const figure = make(all, 'figure');
    if (isFilled) figure.style.background = color;
    if (name) make(figure, 'figure-name', name);
    const value = make(figure, 'figure-text', text);
    value.style.color = isFilled ? '#fff' : color;
    const room = height / (isWide ? 1 : figures.length);
    value.style.fontSize = `${Math.max(12, Math.min(34, room / (name ? 2.6 : 2), 300 / (text.length * Math.sqrt(figures.length))))}px`;
    if (spark) drawSpark(figure, spark, color);
  }
}

function drawSpark(figure: any, spark: (number | null)[], color: string): void {
  const there = spark.filter((value): value is number => value !== null && Number.isFinite(value));
  const [least, most] = [Math.min(...there), Math.max(...there)];
  const points = spark.flatMap((value, n) =>
    value === null || !Number.isFinite(value)
      ? []
      : [
          `${(n / Math.max(1, spark.length - 1)) * 100},${30 - (most > least ? (value - least) / (most - least) : 0.5) * 26}`,
        ],
  );
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 100 31');
  svg.setAttribute('preserveAspectRatio', 'none');
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'polyline');
  line.setAttribute('points', points.join(' '));
  line.setAttribute('style', `fill:none;stroke:${color};stroke-width:1;vector-effect:non-scaling-stroke`);
  svg.append(line);
  figure.append(svg);
}

function drawBar(body: any, { name, text, color, share }: Bar): void {
  const bar = make(body, 'bar');
  make(bar, 'bar-name', name);
  const place = make(bar, 'bar-place');
  const full = make(place, 'bar-full');
  full.style.width = `${share * 100}%`;
  full.style.background = color;
  make(bar, 'bar-text', text).style.color = color;
}

function drawTable(body: any, { columns, rows }: NonNullable<Drawing['table']>): void {
  const table = make(body, 'table', '', 'table');
  const head = make(table, '', '', 'tr');
  for (const column of columns) make(head, '', column, 'th');
  for (const row of rows) {
    const line = make(table, '', '', 'tr');
    for (const { text, color } of row) make(line, '', text, 'td').style.color = color ?? '';
  }
}

Object.assign(globalThis, { draw });
