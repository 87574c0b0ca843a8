import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import type { Clock } from '../../../src/machinery/clock/index.js';
import { SimulatedRedis } from '../../../src/testing/simulation/redis/simulated-redis.js';
import { RawRedis } from './raw-redis.js';

/** One request that took effect on the simulated server, and what both answered. */
export interface MirroredRequest {
  readonly request: readonly string[];
  readonly simulated: string;
  readonly real: Promise<string>;
}

/** The time that the real server's scripts are given. */
const TIME_KEY = 'mirror:time';
const ASKS_TIME = /redis\.call\(["']TIME["']\)/g;

/** A simulated server whose requests are sent to a real one as well, in the order in which they take effect. */
export class MirroredRedis {
  readonly simulated: SimulatedRedis;
  readonly requests: MirroredRequest[] = [];
  private readonly mirrors = new Map<number, RawRedis>();
  private readonly sources = new Map<string, string>();
  private last: Promise<unknown> = Promise.resolve();
  private isOver = false;

  /** @param port of the real server, on this machine */
  constructor(
    private readonly port: number,
    version: string,
    private readonly clock: Clock,
  ) {
    this.simulated = new SimulatedRedis({
      clock,
      name: 'mirrored',
      version,
      observe: (connection, request, reply) => this.mirror(connection, request, reply),
    });
  }

  /** Connections for questions after the last request: to the simulated server, and to the real one. */
  async questions(): Promise<{ readonly simulated: RawRedis; readonly real: RawRedis }> {
    await this.last;
    this.isOver = true;
    const real = new RawRedis(connect(this.port));
    await real.ask(['DEL', TIME_KEY]);
    this.mirrors.set(-1, real);
    return { real, simulated: new RawRedis(this.simulated.connect().socket) };
  }

  close(): void {
    this.simulated.close();
    for (const link of this.mirrors.values()) link.close();
  }

  /** Connections are mirrored one by one, for the sake of the state that they have. */
  private mirror(connection: number, request: readonly string[], simulated: string): void {
    if (this.isOver) return;
    let link = this.mirrors.get(connection);
    if (!link) this.mirrors.set(connection, (link = new RawRedis(connect(this.port))));
    const asked = link;
    const us = this.clock.now() * 1000;
    const time = ['RPUSH', TIME_KEY, String(Math.floor(us / 1e6)), String(us % 1e6)];
    const sent = this.withoutTime(request);
    const real = this.last.then(async () => (await asked.ask(['DEL', TIME_KEY], time, sent))[2] ?? '');
    this.last = real;
    this.requests.push({ request, simulated, real });
  }

  /** Scripts ask a key for the time: the real server is late, and its time would be another. */
  private withoutTime(request: readonly string[]): readonly string[] {
    const [name = '', script = '', ...rest] = request;
    const command = name.toLowerCase();
    if (command === 'eval')
      this.sources.set(createHash('sha1').update(script, 'latin1').digest('hex'), script);
    if (command !== 'eval' && command !== 'evalsha') return request;
    const source = command === 'eval' ? script : this.sources.get(script);
    if (source === undefined) return request;
    return ['EVAL', source.replaceAll(ASKS_TIME, `redis.call('LRANGE', '${TIME_KEY}', 0, 1)`), ...rest];
  }
}

/** Numbers from here on may be times. */
const LEAST_TIME = 1000;
/** The two servers answer this far apart, at most; milliseconds. */
const APART_MS = 20_000;
const LEAST_MICROSECONDS = 1e15;
const HASH = /[0-9a-f]{40}/g;
const DIGITS = /\d+/g;

/** Whether two texts are the same but for identities of servers, and for times. */
export function isSameButForTime(a: string, b: string): boolean {
  const [left, right] = [a.replace(HASH, 'HASH'), b.replace(HASH, 'HASH')];
  if (left === right) return true;
  if (left.replace(DIGITS, '#') !== right.replace(DIGITS, '#')) return false;
  const [first, second] = [left.match(DIGITS) ?? [], right.match(DIGITS) ?? []];
  return first.every((digits, index) => isNear(Number(digits), Number(second[index])));
}

function isNear(a: number, b: number): boolean {
  if (a === b) return true;
  if (Math.min(a, b) < LEAST_TIME) return false;
  return Math.abs(a - b) <= (a > LEAST_MICROSECONDS ? APART_MS * 1000 : APART_MS);
}
