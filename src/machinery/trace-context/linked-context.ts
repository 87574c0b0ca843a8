import type { Context } from '@opentelemetry/api';
import { ROOT_CONTEXT } from '@opentelemetry/api';

/**
 * A context that holds one value and delegates others to its parent. The API's own contexts copy all values into a new
 * map each time; ours are created for every span and hold next to nothing.
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

  /** Replaces its own value if the key is the same: nested spans form no chain and retain no ended span. */
  setValue(key: symbol, value: unknown): Context {
    return new LinkedContext(key, value, key === this.key ? this.parent : this);
  }

  deleteValue(key: symbol): Context {
    return this.setValue(key, undefined);
  }
}

/** The empty context to start spans in: equivalent to `ROOT_CONTEXT`. */
export const EMPTY_CONTEXT: Context = {
  getValue: (key) => ROOT_CONTEXT.getValue(key),
  setValue: (key, value) => new LinkedContext(key, value, ROOT_CONTEXT),
  deleteValue: () => EMPTY_CONTEXT,
};
