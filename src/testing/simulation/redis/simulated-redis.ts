import { createHash } from 'node:crypto';
import { reachHost } from '@rollkeeper/redis/connection';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { Snapshot } from './data/keyspace.js';
import { Keyspace } from './data/keyspace.js';
import type { Network } from './network/network.js';
import { promptNetwork } from './network/network.js';
import { SimulatedConnection } from './network/simulated-connection.js';
import { connectorTo } from './network/simulated-connector.js';
import { ErrorReply } from './resp/reply.js';
import type { Reply } from './resp/reply.js';
import { executeRequest, specOf } from './server/command-executor.js';
import { ScriptRunner } from './server/script-runner.js';
import type { ServerContext, ServerParts } from './server/server-context.js';
import { NO_REPLY } from './server/server-context.js';
import type { ServerFacts, ServerFaults } from './server/server-facts.js';
import { ServerConnection } from './server/server-connection.js';
import { Session } from './server/session.js';
import { WaitingList } from './server/waiting-list.js';

export interface SimulatedRedisOptions {
  /** The server's time: expiry, `TIME`, waits. */
  readonly clock: Clock;
  /** The time of the sockets of clients. @default the server's */
  readonly clientClock?: Clock;
  /** Names the server; another name is another server. @default 'redis' */
  readonly name?: string;
  /** @default everything arrives as soon as the code that runs has ended */
  readonly network?: Network;
  /** The version that `INFO` tells; up to 7.0, doubles have 17 digits. @default '7.0.15' */
  readonly version?: string;
  /** Called with each request in the order in which they take effect, and the bytes of its answer. */
  readonly observe?: (connection: number, request: readonly string[], reply: string) => void;
  /** Replaces the text of a script, under its own hash: a script with a bug. @default as it is */
  readonly scriptText?: (text: string) => string;
}

const ADMINISTRATOR = new Session(
  0,
  () => undefined,
  () => undefined,
  false,
);

/** The data that is left after a restart: all, nothing, or what it was at an earlier time. */
export type KeptData = 'all' | 'nothing' | RedisSnapshot;

/** The data of a simulated server at one time. */
export interface RedisSnapshot {
  readonly databases: ReadonlyMap<number, Snapshot>;
}

/**
 * A Redis within this process, for ioredis: it speaks RESP, and runs the scripts in a real Lua 5.1. It has the commands that this
 * repository and BullMQ use, and answers them as a real server does; docs/SIMULATION.md tells what is not simulated.
 *
 * Nothing in it depends on the machine: time is the clock's, delivery the network's.
 */
export class SimulatedRedis {
  /** For `createRedisConnection` and all that take a URL. */
  readonly url: string;
  /** The name in the URL. */
  readonly host: string;
  /** Gives ioredis its sockets. The one of this process has it already. */
  readonly connector: ReturnType<typeof connectorTo>;
  /** The conditions for which it refuses commands; may be changed at any time. */
  readonly faults: ServerFaults;
  private readonly facts: ServerFacts;
  private readonly scripts: ScriptRunner;
  private readonly databases = new Map<number, Keyspace>();
  private readonly links = new Map<Session, SimulatedConnection>();
  private readonly waiting: WaitingList;
  private readonly ends = new Map<Session, ServerConnection>();
  private readonly parts: ServerParts;
  private readonly unreach: () => void;
  private lives = 0;
  private connections = 0;
  private isUp = true;

  constructor(private readonly options: SimulatedRedisOptions) {
    const { clientClock = options.clock, clock, name = 'redis', scriptText, version = '7.0.15' } = options;
    this.host = `${name}.invalid`;
    this.url = `redis://${this.host}:6379`;
    this.faults = { full: false, loading: false, readOnly: false, diskFailed: false };
    this.facts = { version, runId: '', replicationId: '', faults: this.faults };
    const hasShortestDoubles = !version.startsWith('7.0');
    this.scripts = new ScriptRunner(hasShortestDoubles, scriptText);
    this.waiting = new WaitingList(clock, (session) => this.ends.get(session)?.proceed());
    this.parts = this.makeParts();
    this.beginLife();
    this.connector = connectorTo(clientClock, () => this.connect().socket);
    this.unreach = reachHost(this.host, this.connector);
  }

  /** The connections that are open, in the order in which they were made, with the names that clients gave them. */
  get clients(): readonly { readonly name: string; readonly connection: SimulatedConnection }[] {
    return [...this.links].map(([session, connection]) => ({ name: session.name, connection }));
  }

  /** All data as it is now. */
  snapshot(): RedisSnapshot {
    return { databases: new Map([...this.databases].map(([db, keyspace]) => [db, keyspace.snapshot()])) };
  }

  /** Replaces all data, and tells no client. */
  restore({ databases }: RedisSnapshot): void {
    for (const keyspace of this.databases.values()) keyspace.flush();
    for (const [db, data] of databases) this.database(db).restore(data);
  }

  /** From now on, connections are refused, and those that were open are reset. */
  stop(): void {
    this.isUp = false;
    for (const connection of [...this.links.values()]) connection.reset();
  }

  /** Another life: scripts are forgotten, the run id is new. A fail-over that lost writes keeps an earlier snapshot. */
  start(kept: KeptData = 'all'): void {
    this.scripts.forget();
    if (kept === 'nothing') this.restore({ databases: new Map() });
    else if (kept !== 'all') this.restore(kept);
    this.beginLife();
    this.isUp = true;
  }

  /** Carries out a command without any connection, regardless of the faults. @throws ErrorReply */
  ask(...request: readonly string[]): Reply {
    return specOf(request).run(this.contextOf(ADMINISTRATOR, true), request.slice(1));
  }

  /** The server no longer has any script. */
  forgetScripts(): void {
    this.scripts.forget();
  }

  /** Ends it: its URL leads nowhere. */
  close(): void {
    this.stop();
    this.unreach();
  }

  /** A connection without ioredis. */
  connect(): SimulatedConnection {
    const listener = { accept: (made: SimulatedConnection) => this.accept(made), isUp: () => this.isUp };
    this.connections += 1;
    return new SimulatedConnection(
      this.connections,
      listener,
      this.options.network ?? promptNetwork,
      this.options.clientClock ?? this.options.clock,
    );
  }

  private accept(connection: SimulatedConnection): ServerConnection {
    const end = new ServerConnection(connection, {
      hasShortestDoubles: !this.facts.version.startsWith('7.0'),
      execute: (session, request) => this.execute(session, request),
      closed: (session) => {
        this.waiting.remove(session);
        this.links.delete(session);
        this.ends.delete(session);
      },
    });
    this.links.set(end.session, connection);
    this.ends.set(end.session, end);
    return end;
  }

  private execute(session: Session, request: readonly string[]): Reply {
    try {
      const reply = this.answerTo(session, request);
      if (reply !== NO_REPLY) this.parts.answered(session, reply);
      return reply;
    } finally {
      for (const [db, keyspace] of this.databases)
        if (keyspace.ready.size > 0) this.waiting.serve(db, keyspace);
    }
  }

  private answerTo(session: Session, request: readonly string[]): Reply {
    try {
      return executeRequest(this.contextOf(session, false), request);
    } catch (error) {
      if (error instanceof ErrorReply) return error;
      throw error;
    }
  }

  private contextOf(session: Session, isNested: boolean): ServerContext {
    return {
      server: this.parts,
      session,
      isNested,
      db: this.database(session.db),
      nowMs: Math.floor(this.options.clock.now()),
    };
  }

  private executeAll(session: Session, requests: readonly string[][]): Reply {
    return requests.map((request) => {
      try {
        const reply = specOf(request).run(this.contextOf(session, true), request.slice(1));
        return reply === NO_REPLY ? null : reply;
      } catch (error) {
        if (error instanceof ErrorReply) return error;
        throw error;
      }
    });
  }

  private database(index: number): Keyspace {
    let found = this.databases.get(index);
    if (!found) {
      found = new Keyspace(() => Math.floor(this.options.clock.now()));
      this.databases.set(index, found);
    }
    return found;
  }

  private beginLife(): void {
    this.lives += 1;
    this.facts.runId = this.idOf('run');
    this.facts.replicationId = this.idOf('replication');
  }

  private idOf(kind: string): string {
    return createHash('sha1').update(`${this.url} ${kind} ${this.lives}`).digest('hex');
  }

  private makeParts(): ServerParts {
    return {
      facts: this.facts,
      nowUs: () => Math.floor(this.options.clock.now() * 1000),
      sessions: () => [...this.links.keys()],
      wait: (...args) => this.waiting.add(...args),
      answered: (session, reply) =>
        this.options.observe?.(session.id, session.lastRequest, session.write(reply)),
      flushAll: () => {
        for (const keyspace of this.databases.values()) keyspace.flush();
      },
      loadScript: (source) => this.scripts.load(source),
      hasScript: (sha) => this.scripts.has(sha),
      forgetScripts: () => this.scripts.forget(),
      runScript: (...args) => this.scripts.run(...args),
      executeAll: (session, requests) => this.executeAll(session, requests),
    };
  }
}
