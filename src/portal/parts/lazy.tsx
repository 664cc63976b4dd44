import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Empty, Loading } from './Page.js';

/** A component whose script is loaded when it is first shown. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let Loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [state, setState] = useState<'loading' | 'loaded' | 'failed'>('loading');
    useEffect(() => {
      // This also covers a script that came between the drawing and this effect.
      load().then(
        (component) => {
          Loaded = component;
          setState('loaded');
        },
        () => setState('failed'),
      );
    }, []);
    if (Loaded) return <Loaded {...props} />;
    if (state === 'loading') return <Loading />;
    return (
      <Empty title="This part of the page could not be loaded" isPage>
        <p>The service is unavailable, or has a new version. Load the page again.</p>
      </Empty>
    );
  };
}
