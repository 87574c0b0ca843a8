import type { Reply } from '../resp/reply.js';
import { ErrorReply } from '../resp/reply.js';
import { formatGeneral } from '../resp/format-number.js';
import { REDIS_FUNCTIONS, install, installLibraries, ofRedis } from './lua-library.js';
import { asInC, pushError, pushReply, readResult, textField } from './lua-replies.js';
import { LUA_TYPE, LuaError, LuaStack } from './lua-stack.js';

export interface ScriptCall {
  readonly sha: string;
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /** Executes a command of the script. Throws what the command answers as an error. */
  readonly execute: (request: string[]) => Reply;
}

const SCRIPTS = 1;
const HANDLER = 2;

/** As in Redis, an error that a script catches is its text, and one that ends the script says where it happened. */
const ERROR_HANDLER = `
local dbg, plain = debug, pcall
local function results(isWell, err, ...)
  if isWell or type(err) ~= 'table' then return isWell, err, ... end
  local kind = type(err.err)
  if kind == 'string' or kind == 'number' then err = err.err end
  return false, err
end
function pcall(...) return results(plain(...)) end
return function(err)
  local i = dbg.getinfo(2, 'nSl')
  if i and i.what == 'C' then i = dbg.getinfo(3, 'nSl') end
  if type(err) ~= 'table' then err = { err = 'ERR ' .. tostring(err) } end
  if i then
    err.source = i.source
    err.line = i.currentline
  end
  return err
end`;

/**
 * Runs the scripts of one server, in one interpreter. What it has compiled stays after the server has forgotten the text: a script
 * is the same whenever its hash is.
 */
export class ScriptEngine {
  private readonly stack = new LuaStack();
  private readonly places = new Map<string, number>();
  private call: ScriptCall | undefined;
  private runs = 0;

  constructor(private readonly hasShortestDoubles: boolean) {
    const { stack } = this;
    stack.pushTable();
    if (!stack.compile(ERROR_HANDLER, '@handler') || !stack.callProtected(0))
      throw new Error(`the error handler cannot be compiled: ${stack.textAt(-1)}`);
    installLibraries(stack);
    install(stack, 'redis', {
      ...REDIS_FUNCTIONS,
      call: () => this.callCommand(true),
      pcall: () => this.callCommand(false),
    });
    this.setConstants();
    this.protectGlobals();
  }

  /** @throws ErrorReply for a text that is no script */
  compile(sha: string, source: string): void {
    if (this.places.has(sha)) return;
    const { stack } = this;
    if (!stack.compile(source.replace(/^#![^\n]*/, ''), '@user_script')) {
      const problem = stack.textAt(-1);
      stack.pop();
      throw new ErrorReply(`ERR Error compiling script (new function): ${problem}`);
    }
    const place = this.places.size + 1;
    stack.setItem(SCRIPTS, place);
    this.places.set(sha, place);
  }

  /** @throws ErrorReply when the script fails, or returns an error */
  run(call: ScriptCall): Reply {
    const { stack } = this;
    stack.top = HANDLER;
    this.setTexts('KEYS', call.keys);
    this.setTexts('ARGV', call.args);
    stack.pushItem(SCRIPTS, this.places.get(call.sha) ?? 0);
    this.call = call;
    try {
      const isWell = stack.callProtected(0, HANDLER);
      const result = isWell ? readResult(stack, -1) : this.failure(call.sha);
      if (result instanceof ErrorReply) throw result;
      return result;
    } finally {
      this.call = undefined;
      stack.top = HANDLER;
      if (++this.runs % 50 === 0) stack.collectGarbage();
    }
  }

  private setTexts(name: string, texts: readonly string[]): void {
    const { stack } = this;
    stack.pushTable();
    const table = stack.top;
    for (const [index, text] of texts.entries()) {
      stack.pushText(text);
      stack.setItem(table, index + 1);
    }
    stack.setGlobal(name);
  }

  private callCommand(raises: boolean): number {
    const { stack } = this;
    const request = this.readRequest();
    if (!this.call) throw new Error('a command without a script');
    let reply: Reply;
    try {
      reply = this.call.execute(request);
    } catch (error) {
      if (!(error instanceof ErrorReply)) throw error;
      reply = error;
    }
    if (raises && reply instanceof ErrorReply) {
      const { message } = reply;
      throw new LuaError(message, () => pushError(stack, message, true));
    }
    pushReply(stack, reply, this.hasShortestDoubles);
    return 1;
  }

  private readRequest(): string[] {
    const { stack } = this;
    const count = stack.top;
    if (count === 0) throw ofRedis('Please specify at least one argument for this redis lib call');
    const request: string[] = [];
    for (let at = 1; at <= count; at++) {
      // Redis writes numbers with all their digits. Lua itself writes fewer.
      const text =
        stack.typeOf(at) === LUA_TYPE.number ? formatGeneral(stack.numberAt(at), 17) : stack.textAt(at);
      if (text === undefined) throw ofRedis('Lua redis lib command arguments must be strings or integers');
      request.push(text);
    }
    return request;
  }

  private failure(sha: string): ErrorReply {
    const { stack } = this;
    if (stack.typeOf(-1) !== LUA_TYPE.table)
      return new ErrorReply(`ERR Error running script ${sha}, ${stack.textAt(-1) ?? 'execution failure'}`);
    const table = stack.top;
    const message = asInC(textField(stack, table, 'err') ?? 'ERR unknown error');
    const source = textField(stack, table, 'source');
    stack.pushField(table, 'line');
    const line = stack.textAt(-1);
    return new ErrorReply(
      source === undefined || line === undefined
        ? message
        : `${message} script: ${sha}, on ${source}:${line}.`,
    );
  }

  private setConstants(): void {
    const { stack } = this;
    stack.pushGlobal('redis');
    for (const [level, name] of ['LOG_DEBUG', 'LOG_VERBOSE', 'LOG_NOTICE', 'LOG_WARNING'].entries()) {
      stack.pushNumber(level);
      stack.setField(-2, name);
    }
    stack.pop();
  }

  private protectGlobals(): void {
    const { stack } = this;
    stack.pushGlobals();
    stack.pushTable();
    stack.pushFunction(() => {
      throw new LuaError(`Script attempted to access nonexistent global variable '${stack.textAt(2) ?? ''}'`);
    });
    stack.setField(-2, '__index');
    stack.pushFunction(() => {
      throw new LuaError('Attempt to modify a readonly table');
    });
    stack.setField(-2, '__newindex');
    stack.setMetatable(-2);
    stack.pop();
  }
}
