import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';

/** Leaves room for a dot and 16 hexadecimal digits within the 253 characters of a name. */
const MAX_NAME_PREFIX = 253 - 17;
const MILLISECOND_NS = 1_000_000;
/** Between two names of one millisecond, so that others' may come between them. */
const APART_NS = 1000;

/**
 * Names of Events: `<object>.<hex>`, nanoseconds as in client-go, with random digits below a millisecond. Each is greater than the one
 * before, as far as the clock does not go back: what lists events of one second by name shows them in order.
 */
export class EventNames {
  private last = 0n;

  constructor(
    private readonly clock: Pick<Clock, 'now'>,
    private readonly random: RandomSource,
  ) {}

  next(objectName: string): string {
    const ms = BigInt(Math.floor(this.clock.now())) * BigInt(MILLISECOND_NS);
    const isSame = this.last >= ms && this.last < ms + BigInt(MILLISECOND_NS);
    this.last = isSame ? this.last + this.below(APART_NS) + 1n : ms + this.below(MILLISECOND_NS);
    return `${partOfName(objectName.slice(0, MAX_NAME_PREFIX))}.${this.last.toString(16)}`;
  }

  private below(count: number): bigint {
    return BigInt(Math.floor(this.random.next() * count));
  }
}

/** The name itself, where it is that of an object of the API. Events may be about what has other names, such as a process. */
function partOfName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .replaceAll(/(?<=^|\.)[.-]|[.-](?=\.|$)/g, '0');
}
