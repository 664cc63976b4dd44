/** Of a histogram. */
interface Buckets {
  bucketName: string;
  bounds: readonly number[];
}

/** The last exported trace that was observed in each bucket, which OpenMetrics calls its exemplar. */
export class Exemplars {
  readonly #isExported: (traceId: string) => boolean;
  /** The ends of lines, by the bucket and the labels that they begin with. */
  readonly #byBucket = new Map<string, string>();

  constructor(isExported: (traceId: string) => boolean) {
    this.#isExported = isExported;
  }

  /** `labels`: as they were observed, in their order. */
  keep(
    { bucketName, bounds }: Buckets,
    value: number,
    traceId: string,
    labels: Record<string, string | number> = {},
  ): void {
    if (!this.#isExported(traceId)) return;
    const bound = bounds.find((most) => value <= most) ?? '+Inf';
    const others = Object.entries(labels).map(([name, label]) => `,${name}="${label}"`);
    const at = (Date.now() / 1_000).toFixed(3);
    this.#byBucket.set(
      `${bucketName}{le="${bound}"${others.join('')}}`,
      ` # {trace_id="${traceId}"} ${value} ${at}`,
    );
  }

  /**
   * A text of Prometheus as OpenMetrics 1.0, which alone has exemplars: a counter's family has no `_total`, no line is
   * empty, and an end is marked. Series keep their names. prom-client would rename its counters for good.
   */
  openMetrics(text: string): string {
    const lines = text
      .replaceAll(/^# HELP (\S+)_total (.+\n# TYPE )\S+ counter$/gm, '# HELP $1 $2$1 counter')
      .replaceAll(/^\n/gm, '')
      .replaceAll(
        /^(\w+_bucket\{.+\}) \S+$/gm,
        (line, bucket: string) => line + (this.#byBucket.get(bucket) ?? ''),
      );
    return `${lines}# EOF\n`;
  }
}

export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
