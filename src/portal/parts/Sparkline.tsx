interface Hour {
  hour: string;
  attempts: number;
  failed: number;
}

const height = 24;
const step = 4;

/** Attempts by hour as bars, what failed of each in another colour. `label` says the same in words. */
export function Sparkline({ hours, label }: { hours: Hour[]; label: string }) {
  const max = Math.max(1, ...hours.map(({ attempts }) => attempts));
  const scale = (count: number) => (count === 0 ? 0 : Math.max(1.5, (count / max) * height));
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${hours.length * step} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {hours.map(({ hour, attempts, failed }, index) => {
        const [whole, bad] = [scale(attempts), Math.min(scale(failed), scale(attempts))];
        return (
          <g key={hour}>
            <rect class="base" x={index * step} y={height - 1} width={step - 1} height={1} />
            <rect class="ok" x={index * step} y={height - whole} width={step - 1} height={whole - bad} />
            <rect class="failed" x={index * step} y={height - bad} width={step - 1} height={bad} />
          </g>
        );
      })}
    </svg>
  );
}
