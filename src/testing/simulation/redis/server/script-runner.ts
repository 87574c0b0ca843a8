import { createHash } from 'node:crypto';
import { wrongCount } from '../commands/command.js';
import { ScriptEngine } from '../lua/script-engine.js';
import type { Reply } from '../resp/reply.js';
import { ErrorReply } from '../resp/reply.js';
import { DISK_FAILED, FULL, READ_ONLY, specOf } from './command-executor.js';
import type { ServerContext } from './server-context.js';
import { NO_REPLY } from './server-context.js';
import type { ServerFaults } from './server-facts.js';
import { Session } from './session.js';

const FLAGS = ['no-writes', 'allow-oom', 'allow-stale', 'no-cluster', 'allow-cross-slot-keys'];

/** The traits that a script declares in its first line. */
interface ScriptTraits {
  /** Whether it says anything; otherwise each of its commands is judged by itself. */
  readonly isDeclared: boolean;
  readonly writes: boolean;
  readonly mayTakeMemory: boolean;
}

/** The scripts that a server has, and what they may do. */
export class ScriptRunner {
  private readonly scripts = new Map<string, ScriptTraits>();
  private engine: ScriptEngine | undefined;

  /** @param textOf replaces the text of a script, under its own hash. @default as it is */
  constructor(
    private readonly hasShortestDoubles: boolean,
    private readonly textOf: (source: string) => string = (source) => source,
  ) {}

  /** @returns the hash @throws ErrorReply for a text that is no script */
  load(source: string): string {
    const sha = createHash('sha1').update(source, 'latin1').digest('hex');
    if (this.scripts.has(sha)) return sha;
    const traits = traitsOf(source);
    this.engine ??= new ScriptEngine(this.hasShortestDoubles);
    this.engine.compile(sha, this.textOf(source));
    this.scripts.set(sha, traits);
    return sha;
  }

  has(sha: string): boolean {
    return this.scripts.has(sha);
  }

  forget(): void {
    this.scripts.clear();
  }

  /** @param args as `EVALSHA` has them: hash, number of keys, keys, arguments @throws ErrorReply */
  run(context: ServerContext, sha: string, args: readonly string[], isReadOnly: boolean): Reply {
    const traits = this.scripts.get(sha);
    if (!traits || !this.engine) throw new ErrorReply('NOSCRIPT No matching script. Please use EVAL.');
    const { faults } = context.server.facts;
    refuseScript(traits, faults, isReadOnly);
    const keyCount = Number(args[1]);
    const run = new ScriptRun(context, traits, isReadOnly || !traits.writes);
    return this.engine.run({
      sha,
      keys: args.slice(2, 2 + keyCount),
      args: args.slice(2 + keyCount),
      execute: (request) => run.execute(request),
    });
  }
}

function traitsOf(source: string): ScriptTraits {
  if (!source.startsWith('#!')) return { isDeclared: false, writes: true, mayTakeMemory: false };
  const [line = ''] = source.split('\n', 1);
  const [engine, ...words] = line.slice(2).split(' ');
  if (engine !== 'lua') throw new ErrorReply(`ERR Unexpected engine in script shebang: ${engine}`);
  const flags = new Set<string>();
  for (const word of words) {
    if (!word.startsWith('flags=')) throw new ErrorReply(`ERR Unknown lua shebang option: ${word}`);
    for (const flag of word.slice('flags='.length).split(',').filter(Boolean)) flags.add(flag);
  }
  const unknown = [...flags].find((flag) => !FLAGS.includes(flag));
  if (unknown !== undefined) throw new ErrorReply(`ERR Unexpected flag in script shebang: ${unknown}`);
  return { isDeclared: true, writes: !flags.has('no-writes'), mayTakeMemory: flags.has('allow-oom') };
}

function refuseScript(
  { isDeclared, mayTakeMemory, writes }: ScriptTraits,
  faults: ServerFaults,
  isReadOnly: boolean,
): void {
  if (!isDeclared || !writes) return;
  if (isReadOnly) throw new ErrorReply('ERR Can not execute a script with write flag using *_ro command.');
  if (faults.readOnly)
    throw new ErrorReply('READONLY You can not run script with write flag on readonly replica.');
  if (faults.diskFailed) throw new ErrorReply(DISK_FAILED);
  if (faults.full && !mayTakeMemory)
    throw new ErrorReply(
      "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'",
    );
}

/** One run: its commands see the time at which it began, and speak RESP2. */
class ScriptRun {
  private readonly context: ServerContext;
  private hasWritten = false;

  constructor(
    context: ServerContext,
    private readonly traits: ScriptTraits,
    private readonly isReadOnly: boolean,
  ) {
    const none = (): undefined => undefined;
    const session = new Session(context.session.id, none, none, false);
    session.db = context.session.db;
    this.context = { ...context, session, isNested: true };
  }

  execute(request: readonly string[]): Reply {
    const spec = this.specOf(request);
    if (spec.noScript) throw new ErrorReply('ERR This Redis command is not allowed from script');
    const { faults } = this.context.server.facts;
    if (spec.writes) {
      if (this.isReadOnly) throw new ErrorReply('ERR Write commands are not allowed from read-only scripts.');
      if (faults.readOnly) throw new ErrorReply(READ_ONLY);
      if (faults.diskFailed) throw new ErrorReply(DISK_FAILED);
    }
    if (spec.needsMemory && faults.full && !this.hasWritten && !this.traits.mayTakeMemory)
      throw new ErrorReply(FULL);
    const reply = spec.run(this.context, request.slice(1));
    if (spec.writes) this.hasWritten = true;
    return reply === NO_REPLY ? null : reply;
  }

  private specOf(request: readonly string[]): ReturnType<typeof specOf> {
    try {
      return specOf(request);
    } catch (error) {
      if (!(error instanceof ErrorReply)) throw error;
      const isKnown = error.message === wrongCount((request[0] ?? '').toLowerCase()).message;
      throw new ErrorReply(
        isKnown
          ? 'ERR Wrong number of args calling Redis command from script'
          : 'ERR Unknown Redis command called from script',
      );
    }
  }
}
