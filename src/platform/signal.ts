export interface Signal<T> {
  emit(value: T): void;
  on(listener: (value: T) => void): void;
}

/** Something that happens in this process. A listener must be quick and must not throw. */
export function createSignal<T>(): Signal<T> {
  const listeners: ((value: T) => void)[] = [];
  return {
    emit: (value) => {
      for (const listener of listeners) listener(value);
    },
    on: (listener) => void listeners.push(listener),
  };
}
