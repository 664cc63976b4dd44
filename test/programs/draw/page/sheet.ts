/** The input of the page, which decides nothing but positions in pixels. */
export interface Sheet {
  title: string;
  /** Stands beside the title: the choice and the time. */
  subtitle: string;
  caption: string;
  rows: { title: string; y: number }[];
  panels: Drawing[];
  /** Sizes are in columns of 24 and rows. */
  height: number;
}

interface Place {
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Drawing {
  place: Place;
  title: string;
  /** One of these is there, or nothing: then it says so. */
  graph?: Graph;
  figures?: Figure[];
  bars?: Bar[];
  table?: { columns: string[]; rows: { text: string; color?: string }[][] };
  text?: string;
  /** The text where there is nothing to draw. */
  absent?: string;
}

export interface Graph {
  /** Times are in seconds. */
  times: number[];
  lines: {
    name: string;
    color: string;
    values: (number | null)[];
    fill: number;
    width: number;
    isDashed: boolean;
    isBars: boolean;
  }[];
  isStacked: boolean;
  unit: string;
  decimals?: number | undefined;
  min?: number | undefined;
  softMin?: number | undefined;
  max?: number | undefined;
  softMax?: number | undefined;
  isLogarithmic: boolean;
  /** Drawn as lines, or as areas, or both. */
  thresholds: { value: number; color: string }[];
  thresholdStyle: string;
  legend: {
    isTable: boolean;
    isRight: boolean;
    calcs: string[];
    items: { name: string; color: string; figures: string[] }[];
  } | null;
  /** Times are in seconds. */
  marks: { at: number; color: string }[];
}

export interface Figure {
  name: string;
  text: string;
  color: string;
  isFilled: boolean;
  spark: (number | null)[] | null;
}

export interface Bar {
  name: string;
  text: string;
  color: string;
  /** The fraction of its space, from 0 to 1. */
  share: number;
}
