import { reasonOf } from '@rollkeeper/machinery/cancellation';
import type { SimulatedProcess } from './process.js';
import type { Kernel } from './kernel.js';

/** How messages fare. Chances are from 0 to 1, of each message by itself. */
export interface Weather {
  /** A message never arrives, and its sender hears nothing. */
  lost: number;
  /** The connection breaks in place of the message: its sender hears that, and no more. */
  broken: number;
  /** A request that may be repeated takes effect twice, as one that a client sends again after it has connected again. */
  doubled: number;
  /** A message is late: it takes longer than any that is not, by up to {@link lateMs}. */
  late: number;
  /** Milliseconds. */
  lateMs: number;
}

/** Every message arrives once and in time. */
export const FAIR_WEATHER: Readonly<Weather> = { lost: 0, broken: 0, doubled: 0, late: 0, lateMs: 0 };

/** The connection broke. */
export class ConnectionBrokenError extends Error {
  readonly code = 'ECONNRESET';

  constructor(what: string) {
    super(`the connection broke: ${what}`);
    this.name = 'ConnectionBrokenError';
  }
}

/** One request and what its sender expects. */
export interface Call<T> {
  readonly from: SimulatedProcess;
  readonly to: SimulatedProcess;
  /** For the trace. */
  readonly text: string;
  /** Takes effect at the receiver. Rejections travel back as answers. */
  readonly effect: () => Promise<T>;
  /** It may arrive twice. @default false */
  readonly mayBeDoubled?: boolean;
  /** Ends the sender's wait, and nothing else. */
  readonly signal?: AbortSignal;
}

type Leg = 'request' | 'answer' | 'event';
type Fate = { readonly kind: 'arrives'; readonly inMs: number } | { readonly kind: 'lost' | 'broken' };

/** Carries messages between processes: each takes its own time, so that any two may overtake each other. */
export class Network {
  /** Called right before a request leaves its process, and right after it took effect elsewhere. @default nothing */
  onEffect: (process: SimulatedProcess, when: 'before' | 'after', what: string) => void = () => undefined;
  /** The number of messages that had each kind of fault. */
  readonly faults = new Map<string, number>();
  private readonly weathers = new Map<string, Weather>();
  /** The weather of all messages. */
  private everywhere: Weather = FAIR_WEATHER;

  /** @param latencyMs the shortest and the longest of an ordinary message, by the receiver's or sender's name */
  constructor(
    private readonly kernel: Kernel,
    private readonly latencyMs: (from: string, to: string) => readonly [number, number],
  ) {}

  /** Sets how messages from and to a process fare. @default fair */
  set(name: string, weather: Partial<Weather>): void {
    this.weathers.set(name, { ...FAIR_WEATHER, ...weather });
  }

  /** Sets how all messages fare. Where a process has worse weather, that counts. @default fair */
  setEverywhere(weather: Partial<Weather>): void {
    this.everywhere = { ...FAIR_WEATHER, ...weather };
  }

  /** From now on nothing is lost, broken, doubled or late. */
  clear(): void {
    this.weathers.clear();
    this.everywhere = FAIR_WEATHER;
  }

  count(fault: string, by = 1): void {
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + by);
  }

  /**
   * Sends a request and returns its answer. A lost message leaves the promise pending: the sender's own time limit has
   * to end it.
   * @throws ConnectionBrokenError, the reason of `signal`, or what the effect rejects with
   */
  call<T>(call: Call<T>): Promise<T> {
    const { from, mayBeDoubled = false, signal, text, to } = call;
    this.onEffect(from, 'before', text);
    if (!from.isAlive) return new Promise(() => undefined);
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(reasonOf(signal));
      const onAbort = (): void => reject(reasonOf(signal!));
      signal?.addEventListener('abort', onAbort, { once: true });
      const settle = (end: () => void): void => {
        signal?.removeEventListener('abort', onAbort);
        end();
      };
      const broken = (): void => settle(() => reject(new ConnectionBrokenError(text)));
      this.deliver(from, to, text, 'request', {
        arrives: () => {
          if (mayBeDoubled && this.happens('doubled', from, to)) {
            this.kernel.note(from.name, to.name, `${text} (doubled)`);
            call.effect().catch(() => undefined);
          }
          this.answer(call, settle, resolve, reject);
        },
        broken: () => this.toSender(from, broken),
      });
    });
  }

  /** Sends a message that has no answer. @returns when it arrives, simulated milliseconds; undefined: it does not */
  post(from: SimulatedProcess, to: SimulatedProcess, text: string, arrives: () => void): void {
    this.deliver(from, to, text, 'event', { arrives, broken: () => undefined });
  }

  /** How long a message takes now, milliseconds. */
  latency(from: SimulatedProcess, to: SimulatedProcess): number {
    const [shortest, longest] = this.latencyMs(from.name, to.name);
    const inTimeMs = shortest + (longest - shortest) * this.kernel.random.next() ** 2;
    if (!this.happens('late', from, to)) return inTimeMs;
    const { lateMs } = this.worstOf(from, to, 'late');
    return longest + lateMs * this.kernel.random.next();
  }

  /** Whether this fault happens to a message now; counted if so. */
  happens(fault: Exclude<keyof Weather, 'lateMs'>, from: SimulatedProcess, to: SimulatedProcess): boolean {
    const chance = this.worstOf(from, to, fault)[fault];
    if (chance === 0 || this.kernel.random.next() >= chance) return false;
    this.count(`message ${fault}`);
    return true;
  }

  private answer<T>(
    { effect, from, text, to }: Call<T>,
    settle: (end: () => void) => void,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ): void {
    const back = (end: () => void): void =>
      this.deliver(to, from, `${text} answered`, 'answer', {
        arrives: () => settle(end),
        broken: () => this.toSender(from, () => settle(() => reject(new ConnectionBrokenError(text)))),
      });
    effect().then(
      (value) => {
        this.onEffect(from, 'after', text);
        back(() => resolve(value));
      },
      (error: unknown) => back(() => reject(error)),
    );
  }

  private deliver(
    from: SimulatedProcess,
    to: SimulatedProcess,
    text: string,
    leg: Leg,
    on: { readonly arrives: () => void; readonly broken: () => void },
  ): void {
    const fate = this.fateOf(from, to);
    if (fate.kind !== 'arrives') {
      this.kernel.note(from.name, to.name, `${text} (${leg} ${fate.kind})`);
      if (fate.kind === 'broken') on.broken();
      return;
    }
    to.after(fate.inMs, () => {
      this.kernel.note(from.name, to.name, text);
      on.arrives();
    });
  }

  private fateOf(from: SimulatedProcess, to: SimulatedProcess): Fate {
    if (this.happens('lost', from, to)) return { kind: 'lost' };
    if (this.happens('broken', from, to)) return { kind: 'broken' };
    return { kind: 'arrives', inMs: this.latency(from, to) };
  }

  /** The sender hears of it as soon as it runs. */
  private toSender(sender: SimulatedProcess, tell: () => void): void {
    sender.after(this.kernel.random.next(), tell);
  }

  private worstOf(from: SimulatedProcess, to: SimulatedProcess, fault: keyof Weather): Weather {
    const { everywhere, weathers } = this;
    if (weathers.size === 0) return everywhere;
    const ofSender = weathers.get(from.name) ?? everywhere;
    const ofReceiver = weathers.get(to.name) ?? everywhere;
    const worse = ofReceiver[fault] > ofSender[fault] ? ofReceiver : ofSender;
    return everywhere[fault] > worse[fault] ? everywhere : worse;
  }
}
