import type { Context } from '@opentelemetry/api';
import { ROOT_CONTEXT } from '@opentelemetry/api';

/**
 * A context that holds one value and asks the one it was made from for the others. The API's own copies all values into a
 * map of its own each time, and ours are made for every span and hold next to nothing.
 */
class LinkedContext implements Context {
  constructor(
    private readonly key: symbol,
    private readonly value: unknown,
    private readonly parent: Context,
  ) {}

  getValue(key: symbol): unknown {
    return key === this.key ? this.value : this.parent.getValue(key);
  }

  /** In place of its own value where it is the same: spans below spans make no chain, and hold no span that has ended. */
  setValue(key: symbol, value: unknown): Context {
    return new LinkedContext(key, value, key === this.key ? this.parent : this);
  }

  deleteValue(key: symbol): Context {
    return this.setValue(key, undefined);
  }
}

/** The empty context to begin spans in: `ROOT_CONTEXT` in all it says. */
export const EMPTY_CONTEXT: Context = {
  getValue: (key) => ROOT_CONTEXT.getValue(key),
  setValue: (key, value) => new LinkedContext(key, value, ROOT_CONTEXT),
  deleteValue: () => EMPTY_CONTEXT,
};
