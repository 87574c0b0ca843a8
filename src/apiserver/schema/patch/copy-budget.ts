import { setField, isJsonObject } from '@rollkeeper/machinery/kubernetes';
import { MAX_VALUES } from '../index.js';
import type { JsonObject } from './json-pointer.js';

/** Characters of JSON that the copies of one patch may add up to: the genuine server's `JSONPatchMaxCopyBytes`. */
export const MAX_COPIED = 3 * 1024 * 1024;

/** Names and values that the copies of one patch may add up to: few characters can be many of them. */
const MAX_COPIED_VALUES = 2 * MAX_VALUES;

/** More was asked for than may be copied. */
export class CopyBudgetError extends Error {}

/** Makes deep copies until they are too much together, and stops in the middle of the one that is. */
export class CopyBudget {
  private copied = 0;
  private values = 0;

  /** @throws CopyBudgetError */
  copy(value: unknown): unknown {
    if (Array.isArray(value)) {
      this.spend(2);
      return value.map((item) => this.copy(item));
    }
    if (isJsonObject(value)) return this.copyObject(value);
    this.spend(typeof value === 'string' ? value.length + 2 : String(value).length);
    return value;
  }

  private copyObject(value: JsonObject): JsonObject {
    this.spend(2);
    const copy: JsonObject = {};
    for (const [name, field] of Object.entries(value)) {
      this.spend(name.length + 4);
      setField(copy, name, this.copy(field));
    }
    return copy;
  }

  private spend(length: number): void {
    this.copied += length;
    if (this.copied > MAX_COPIED) {
      throw new CopyBudgetError(
        `Unable to complete the copy, the accumulated size increase of copy is ${this.copied}, exceeding the limit ${MAX_COPIED}`,
      );
    }
    if (++this.values > MAX_COPIED_VALUES) {
      throw new CopyBudgetError(
        `Unable to complete the copy, the copies of this patch have more than ${MAX_COPIED_VALUES} names and values`,
      );
    }
  }
}
