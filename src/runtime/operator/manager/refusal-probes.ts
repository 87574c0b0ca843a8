import { apiStatusOf } from '@rollkeeper/client/api-client/api-status-error';
import type { Clock, TimerHandle } from '@rollkeeper/machinery/clock';
import { parseKey } from '@rollkeeper/machinery/kubernetes';

/** A key of a controller whose writes are refused. */
export interface RefusedKey {
  readonly controller: string;
  readonly key: string;
}

interface RefusalProbesDependencies {
  readonly clock: Clock;
  /** Tries one key that would otherwise wait for long. Never rejects. */
  readonly probe: (refused: RefusedKey) => Promise<void>;
  /** Wakes a key because what refused it is over. Never rejects. */
  readonly wake: (refused: RefusedKey) => Promise<void>;
}

/** How often one key of each cause is tried. */
export const PROBE_EVERY_MS = 10_000;

const CAUSES = [
  /(?:Validating|Mutating)AdmissionPolicy '[^']{1,253}' with binding '[^']{1,253}'/,
  /webhook "[^"]{1,253}"/,
];

/**
 * The probe of what refused a write, if that can change without a change of the objects that `OBSTACLES` lists: a
 * policy goes by its parameters, which are objects of any kind, and a webhook by what answers it. Undefined: something
 * else.
 */
export function causeOf(error: unknown): string | undefined {
  const { message = '' } = apiStatusOf(error) ?? {};
  for (const pattern of CAUSES) {
    const [cause] = pattern.exec(message) ?? [];
    if (cause !== undefined) return cause;
  }
  return undefined;
}

/**
 * Notices that a policy or a webhook no longer refuses, by trying: of all keys of a namespace that it refuses, one is
 * tried every ten seconds, and as soon as one is accepted the others are woken. Costs one attempt for each cause,
 * however many keys there are, and nothing while there is none.
 */
export class RefusalProbes {
  private readonly keysOf = new Map<string, Map<string, RefusedKey>>();
  private readonly causeOf = new Map<string, string>();
  private timer?: TimerHandle;
  private isStopped = false;

  constructor(private readonly deps: RefusalProbesDependencies) {}

  refused(refused: RefusedKey, error: unknown): void {
    const id = idOf(refused);
    const found = causeOf(error);
    const cause = found && JSON.stringify([found, parseKey(refused.key).namespace]);
    if (this.causeOf.get(id) === cause) return;
    this.forget(id);
    if (cause === undefined) return;
    this.causeOf.set(id, cause);
    const keys = this.keysOf.get(cause) ?? new Map<string, RefusedKey>();
    this.keysOf.set(cause, keys.set(id, refused));
    this.schedule();
  }

  /** The key has another problem now. */
  drop(refused: RefusedKey): void {
    this.forget(idOf(refused));
  }

  /** The key has been accepted: what refused it is over. */
  accepted(refused: RefusedKey): void {
    const id = idOf(refused);
    const cause = this.causeOf.get(id);
    if (cause === undefined) return;
    this.forget(id);
    for (const other of this.keysOf.get(cause)?.values() ?? []) void this.deps.wake(other);
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  private forget(id: string): void {
    const cause = this.causeOf.get(id);
    if (cause === undefined) return;
    this.causeOf.delete(id);
    const keys = this.keysOf.get(cause);
    keys?.delete(id);
    if (keys?.size === 0) this.keysOf.delete(cause);
  }

  private schedule(): void {
    if (this.timer || this.isStopped || this.keysOf.size === 0) return;
    this.timer = this.deps.clock.setTimeout(() => {
      this.timer = undefined;
      for (const keys of this.keysOf.values()) this.probeNext(keys);
      this.schedule();
    }, PROBE_EVERY_MS);
  }

  /** Each in its turn: one may have another problem by now. */
  private probeNext(keys: Map<string, RefusedKey>): void {
    const [first] = keys;
    if (!first) return;
    const [id, refused] = first;
    keys.delete(id);
    keys.set(id, refused);
    void this.deps.probe(refused);
  }
}

function idOf({ controller, key }: RefusedKey): string {
  return `${controller} ${key}`;
}
