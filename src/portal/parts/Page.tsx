import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ApiError } from '../api.js';
import { Link } from '../router.js';
import { isRetrying, retryingText } from '../in-short.js';
import { maxAttempts, session } from '../session.js';
import { wordOf, words } from '../words.js';

/** Sets the document's title while the component is shown; the place's own is the default. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Parcelhook`;
  }, [title]);
}

/** The head of a place: its heading, what to know of it, and its buttons, most of which change something. */
export function PageHead({
  title,
  children,
  actions,
}: {
  title: ComponentChildren;
  children?: ComponentChildren;
  actions?: ComponentChildren;
}) {
  return (
    <div class="page-head">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {children && <div class="lead">{children}</div>}
      </div>
      {actions && !session.value?.readOnly && <div class="actions">{actions}</div>}
    </div>
  );
}

interface EmptyProps {
  title: string;
  children?: ComponentChildren;
  /** True if the page has nothing else: the title is the page's. */
  isPage?: boolean;
}

/** Nothing to show, why, and what to do about it. */
export function Empty({ title, children, isPage = false }: EmptyProps) {
  const Heading = isPage ? 'h1' : 'h2';
  return (
    <div class="empty">
      <Heading tabIndex={isPage ? -1 : undefined}>{title}</Heading>
      {children}
    </div>
  );
}

interface LoadErrorProps {
  error: ApiError;
  isPage?: boolean;
  /** The text for a 404, instead of the API's. */
  children?: ComponentChildren;
}

/** A read that failed for good (404, 403). While the service is away reads wait, and the shell says so. */
export function LoadError({ error, isPage = false, children }: LoadErrorProps) {
  if (error.status === 404 && children)
    return (
      <div role="alert">
        <Empty title="Not found" isPage={isPage}>
          <p>{children}</p>
        </Empty>
      </div>
    );
  return (
    <div role="alert">
      <Empty title={error.status === 404 ? 'Not found' : 'This could not be loaded'} isPage={isPage}>
        <p>{error.message}</p>
        {error.requestId && (
          <p>
            Request <code>{error.requestId}</code>
          </p>
        )}
      </Empty>
    </div>
  );
}

/** Stands for rows that are still being read. */
export function Loading({ rows = 4 }: { rows?: number }) {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} />
      ))}
    </div>
  );
}

/** A line of a list of facts (`dl`). */
export const Fact = ({ name, children }: { name: ComponentChildren; children: ComponentChildren }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);

/** The head of a table. Columns of `numbers` are aligned on the right. */
export const TableHead = ({
  columns,
  numbers = [],
  hasActions = false,
}: {
  columns: string[];
  numbers?: string[];
  hasActions?: boolean;
}) => (
  <thead>
    <tr>
      {columns.map((name) => (
        <th key={name} scope="col" class={numbers.includes(name) ? 'number' : ''}>
          {name}
        </th>
      ))}
      {hasActions && (
        <th scope="col">
          <span class="unseen">Actions</span>
        </th>
      )}
    </tr>
  </thead>
);

/** Colour and word, always both. `children` replaces the word: `<StatusBadge status="FAILED">410 Gone</StatusBadge>`. */
export const StatusBadge = ({ status, children }: { status: string; children?: ComponentChildren }) => (
  <span class={`badge ${words[status]?.[0] ?? 'idle'}`}>{children ?? wordOf(status)}</span>
);

/** The status of a delivery, which is being retried or not. */
export const DeliveryBadge = ({ delivery }: { delivery: { status: string; attemptCount: number } }) =>
  isRetrying(delivery) ? (
    <StatusBadge status="RETRYING">{retryingText(delivery.attemptCount, maxAttempts)}</StatusBadge>
  ) : (
    <StatusBadge status={delivery.status} />
  );

/** Leads a failed attempt that got a response to the doctor, with its own headers and body. */
export const DiagnoseLink = ({
  deliveryId,
  number,
  class: look = 'small',
}: {
  deliveryId: string;
  number: number;
  class?: string;
}) => (
  <Link class={`button ${look}`} href={`/doctor?delivery=${deliveryId}&attempt=${number}`}>
    Diagnose
  </Link>
);
