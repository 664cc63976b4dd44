import uPlot from 'uplot';
import { formatted } from '../boards/units.js';
import type { Graph } from './sheet.js';

type Make = (parent: any, name: string, text?: string, kind?: string) => any;

const legendLine = 16;
const gridColor = 'rgba(204,204,220,0.08)';
const axisColor = '#9a9aab';

export function drawGraph(
  body: any,
  graph: Graph,
  { width, height }: { width: number; height: number },
  make: Make,
): void {
  const { legend, lines } = graph;
  const legendHeight = legend && !legend.isRight ? heightOf(legend, width, height) : 0;
  const legendWidth = legend?.isRight ? Math.min(220, width * 0.4) : 0;
  const place = make(body, 'plot');
  if (legendWidth) place.style.float = 'left';
  const sums = graph.isStacked
    ? stacked(lines.map(({ values }) => values))
    : lines.map(({ values }) => values);
  const order = graph.isStacked ? lines.map((_, n) => n).reverse() : lines.map((_, n) => n);
  const options: uPlot.Options = {
    width: width - legendWidth,
    height: height - legendHeight,
    legend: { show: false },
    cursor: { show: false },
    padding: [6, 8, 0, 0],
    scales: {
      x: { time: true },
      y: { range: rangeOf(graph), ...(graph.isLogarithmic && { distr: 3 }) },
    },
    axes: [
      {
        stroke: axisColor,
        font: '10px sans-serif',
        size: 22,
        grid: { stroke: gridColor, width: 1 },
        ticks: { show: false },
        values: (_, at) => at.map((time) => new Date(time * 1_000).toISOString().slice(11, 19)),
        space: 70,
      },
      {
        stroke: axisColor,
        font: '10px sans-serif',
        size: 62,
        space: 24,
        grid: { stroke: gridColor, width: 1 },
        ticks: { show: false },
        values: (_, at) =>
          at.map((value) =>
            value === null
              ? ''
              : formatted(value, {
                  unit: graph.unit,
                  ...(graph.decimals !== undefined && { decimals: graph.decimals }),
                }),
          ),
      },
    ],
    series: [
      {},
      ...order.map((n): uPlot.Series => {
        const { color, fill, width: lineWidth, isDashed, isBars } = lines[n]!;
        return {
          stroke: color,
          width: lineWidth || 1,
          points: { show: false },
          spanGaps: false,
          ...(fill > 0 && { fill: color + hex(graph.isStacked ? Math.max(fill, 0.3) : fill) }),
          ...(isDashed && { dash: [6, 4] }),
          ...(isBars && { paths: uPlot.paths.bars!({ size: [0.9, 20] }) }),
        };
      }),
    ],
    hooks: { drawAxes: [(plot) => drawThresholds(plot, graph)], draw: [(plot) => drawMarks(plot, graph)] },
  };
  const data = [graph.times, ...order.map((n) => sums[n]!)] as uPlot.AlignedData;
  new uPlot(options, data, place);
  if (legend) drawLegend(body, legend, legendHeight, legendWidth, make);
}

const hex = (share: number) =>
  Math.round(share * 255)
    .toString(16)
    .padStart(2, '0');

/** Each with those before it below it; what is not there takes no space. */
function stacked(lines: (number | null)[][]): (number | null)[][] {
  const below: number[] = [];
  return lines.map((values) =>
    values.map((value, n) => {
      if (value === null || Number.isNaN(value)) return null;
      return (below[n] = (below[n] ?? 0) + value);
    }),
  );
}

/** As in Grafana, thresholds do not widen the axis. */
const rangeOf =
  ({ min, softMin, max, softMax, isLogarithmic }: Graph) =>
  (_: uPlot, dataMin: number | null, dataMax: number | null): uPlot.Range.MinMax => {
    if (isLogarithmic) return uPlot.rangeLog(dataMin ?? 0.001, dataMax ?? 1, 10, true);
    const low = min ?? Math.min(dataMin ?? 0, softMin ?? Infinity);
    const high = max ?? Math.max(dataMax ?? 1, softMax ?? -Infinity);
    return [low, high > low ? (max === undefined ? high + (high - low) * 0.08 : high) : low + 1];
  };

function drawThresholds(plot: uPlot, { thresholds, thresholdStyle }: Graph): void {
  const { ctx, bbox } = plot;
  const inside = (value: number) =>
    Math.min(bbox.top + bbox.height, Math.max(bbox.top, plot.valToPos(value, 'y', true)));
  for (const [n, { value, color }] of thresholds.entries()) {
    const y = plot.valToPos(value, 'y', true);
    const isInside = y >= bbox.top && y <= bbox.top + bbox.height;
    ctx.save();
    if (/area/.test(thresholdStyle)) {
      const next = thresholds[n + 1];
      const top = next ? inside(next.value) : bbox.top;
      ctx.globalAlpha = 0.12;
      ctx.fillStyle = color;
      ctx.fillRect(bbox.left, top, bbox.width, inside(value) - top);
      ctx.globalAlpha = 1;
    }
    if (/line|dashed/.test(thresholdStyle) && isInside) {
      ctx.strokeStyle = color;
      ctx.setLineDash(/dashed/.test(thresholdStyle) ? [8, 6] : []);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    }
    ctx.restore();
  }
}

function drawMarks(plot: uPlot, { marks }: Graph): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.setLineDash([3, 3]);
  for (const { at, color } of marks) {
    const x = plot.valToPos(at, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = color;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** Rows that do not fit are cut off, as Grafana scrolls them away. */
function heightOf(
  { isTable, items, calcs }: NonNullable<Graph['legend']>,
  width: number,
  height: number,
): number {
  if (isTable) return Math.min((items.length + 1) * legendLine, height * 0.35);
  const signs = items.reduce(
    (sum, { name, figures }) => sum + 26 + (name.length + figures.join('  ').length + 8 * calcs.length) * 5.6,
    0,
  );
  return Math.min(Math.max(1, Math.ceil(signs / width)) * legendLine, height * 0.35);
}

function drawLegend(
  body: any,
  { isTable, calcs, items }: NonNullable<Graph['legend']>,
  height: number,
  width: number,
  make: Make,
): void {
  const legend = make(body, isTable ? 'legend legend-table' : 'legend');
  if (height) legend.style.height = `${height}px`;
  if (width) legend.style.width = `${width}px`;
  if (isTable) {
    const head = make(legend, 'legend-item');
    make(head, 'legend-name', 'Name');
    for (const calc of calcs) make(head, 'legend-figure', calc);
  }
  for (const { name, color, figures } of items) {
    const item = make(legend, 'legend-item');
    make(item, 'legend-color').style.background = color;
    make(item, 'legend-name', name);
    for (const [n, figure] of figures.entries())
      make(item, 'legend-figure', isTable ? figure : `${calcs[n]}: ${figure}`);
  }
}
