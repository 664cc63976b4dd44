import type { ComponentType, FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Empty, Loading } from './Page.js';

export type LazyComponent<Props> = FunctionComponent<Props> & {
  /** Loads it before it is shown, such as when the pointer is over its link. */
  preload(): void;
};

/** A component whose script is loaded when it is first shown. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): LazyComponent<Props> {
  let Loaded: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  const loadOnce = () => {
    loading ??= load().then((component) => void (Loaded = component));
    loading.catch(() => (loading = undefined));
    return loading;
  };
  function Lazy(props: Props) {
    const [hasFailed, setHasFailed] = useState(false);
    const [, drawAgain] = useState(0);
    useEffect(() => {
      // Also where it came between the drawing and this.
      loadOnce().then(
        () => drawAgain(1),
        () => setHasFailed(true),
      );
    }, []);
    if (Loaded) return <Loaded {...props} />;
    if (!hasFailed) return <Loading />;
    return (
      <Empty title="This part of the page could not be loaded">
        <p>The service is away, or has a new version. Load the page again.</p>
      </Empty>
    );
  }
  return Object.assign(Lazy, { preload: () => void loadOnce() });
}
