import type { ArgumentModel, CommandModel, OptionModel } from './command-model.js';

export interface Candidate {
  readonly value: string;
  readonly description?: string;
}

/** Names that only the API, or the kubeconfig, knows. */
export type AskedNames =
  | { readonly of: 'namespaces' | 'contexts' }
  | {
      readonly of: 'objects';
      /** As it was typed: `deployment`, `po`. */
      readonly kind: string;
      readonly namespace: string;
      /** The text before the name in the same word: `deployment/`. */
      readonly before: string;
    };

/** How a shell continues: which candidates fit here, where names come from, and whether files may follow. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  readonly names?: AskedNames;
  readonly files: boolean;
  /** The word continues right behind it: `deployment/`. */
  readonly noSpace: boolean;
  /** The connection with which the names are asked. */
  readonly api: { readonly kubeconfig?: string; readonly context?: string };
}

const BOOLEANS = ['true', 'false'];
const APIS = ['apps/v1', 'rollkeeper.dev/v1'];
const NOTHING = { candidates: [], files: false, noSpace: false };
const OF_FILES = /file|folder|path/;
/** Kinds whose objects a command takes; the first is meant where none is typed. */
const KINDS_OF: Readonly<Record<string, readonly string[]>> = {
  explain: [
    ...['deployment', 'pod', 'statefulset', 'daemonset', 'replicaset', 'job', 'cronjob', 'hpa', 'pdb', 'pvc'],
    ...['service', 'node', 'namespace', 'apiservice'],
  ],
  scale: ['deployment', 'replicaset'],
  why: ['pod'],
};
const USUAL_KINDS = ['deployment'];
/** Arguments that are the name of an object. */
const OF_NAMES: ReadonlySet<string> = new Set(['name', 'pod']);

/**
 * The words that may take the place of the last one.
 * @param words those after the program's name; the last one is being typed, and may be empty
 */
export function decideCompletion(program: CommandModel, words: readonly string[]): Completion {
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const read = readWords(program, before);
  const api = { kubeconfig: read.values.get('--kubeconfig'), context: read.values.get('--context') };
  return { ...placeOf(program, read, current), api };
}

type Place = Omit<Completion, 'api'>;

function placeOf(program: CommandModel, read: ReadWords, current: string): Place {
  const { command, expects, isBehindDashes, positionals } = read;
  if (isBehindDashes) return { ...NOTHING, files: true };
  if (expects && (expects.value === 'required' || !current.startsWith('-')))
    return valueOf(expects, current, '');
  const [flag = '', typed] = splitOnce(current, '=');
  if (current.startsWith('-') && typed !== undefined) {
    const option = (command ?? program).options.find(({ name }) => name === flag);
    return option ? valueOf(option, typed, `${flag}=`) : NOTHING;
  }
  if (current.startsWith('-')) return { ...NOTHING, candidates: optionsOf(command ?? program, current) };
  if (!command) return { ...NOTHING, candidates: commandsOf(program, current) };
  return argumentOf(command, positionals, read, current);
}

interface ReadWords {
  readonly command?: CommandModel;
  /** Words that are no options. */
  readonly positionals: readonly string[];
  /** The option whose value comes next. */
  readonly expects?: OptionModel;
  readonly isBehindDashes: boolean;
  readonly values: ReadonlyMap<string, string>;
}

function readWords(program: CommandModel, words: readonly string[]): ReadWords {
  const values = new Map<string, string>();
  const positionals: string[] = [];
  let command: CommandModel | undefined;
  let expects: OptionModel | undefined;
  for (const word of words) {
    const awaits: OptionModel | undefined = expects;
    expects = undefined;
    // An option whose value is optional takes a word that can be one, and no other.
    if (awaits && (awaits.value === 'required' || BOOLEANS.includes(word))) values.set(awaits.name, word);
    else if (word === '--') return { command, positionals, isBehindDashes: true, values };
    else if (word.startsWith('-')) {
      const [flag = '', value] = splitOnce(word, '=');
      const option = (command ?? program).options.find(({ name, short }) => name === flag || short === flag);
      if (value !== undefined && option) values.set(option.name, value);
      else if (option && option.value !== 'none') expects = option;
    } else if (command) positionals.push(word);
    else command = program.commands.find(({ name }) => name === word) ?? { ...program, commands: [] };
  }
  return { command, positionals, expects, isBehindDashes: false, values };
}

function argumentOf(
  command: CommandModel,
  positionals: readonly string[],
  read: ReadWords,
  current: string,
): Place {
  if (command.name === 'help') return NOTHING;
  const index = Math.min(positionals.length, command.arguments.length - 1);
  const argument = command.arguments[index];
  if (!argument || (index < positionals.length && !argument.variadic)) return NOTHING;
  if (argument.choices.length > 0) return { ...NOTHING, candidates: startingWith(argument.choices, current) };
  if (OF_NAMES.has(argument.name)) return nameOf(command, argument, positionals, read, current);
  return { ...NOTHING, files: OF_FILES.test(argument.name) };
}

/** `deployment/NAME`, `deployment NAME` or `NAME`. */
function nameOf(
  command: CommandModel,
  argument: ArgumentModel,
  positionals: readonly string[],
  { values }: ReadWords,
  current: string,
): Place {
  const namespace = values.get('--namespace') ?? 'default';
  const kinds = KINDS_OF[command.name] ?? USUAL_KINDS;
  const [usual = 'deployment'] = kinds;
  const asked = (kind: string, inNamespace: string, before: string): Place => ({
    ...NOTHING,
    names: { of: 'objects', kind, namespace: inNamespace, before },
  });
  const words = positionals.slice(command.arguments.indexOf(argument));
  const [kind] = words;
  if (kind !== undefined) return words.length > 1 || !isWord(kind) ? NOTHING : asked(kind, namespace, '');
  const slash = current.indexOf('/');
  if (slash >= 0) {
    const before = current.slice(0, slash);
    return isKind(before, kinds)
      ? asked(before, namespace, `${before}/`)
      : asked(usual, before, `${before}/`);
  }
  const candidates = kinds
    .map((each) => ({ value: `${each}/` }))
    .filter(({ value }) => value.startsWith(current));
  if (current !== '' && candidates.length > 0) return { ...NOTHING, candidates, noSpace: true };
  return { ...asked(usual, namespace, ''), candidates };
}

/** A word before the name can only be a kind. */
function isWord(text: string): boolean {
  return /^[a-z][a-z0-9.-]*$/i.test(text);
}

const ALIASES = /^(deploy|deployments?|rkd|po|pods?|rs|sts|ds|cj|svc|no|ns)$/i;

function isKind(word: string, kinds: readonly string[]): boolean {
  const [base = ''] = word.split('.');
  return ALIASES.test(base) || kinds.some((kind) => base === kind || base === `${kind}s`);
}

function valueOf({ choices, flags, name, value }: OptionModel, current: string, before: string): Place {
  const of = (all: readonly string[]): Place => ({
    ...NOTHING,
    candidates: startingWith(all, current).map((candidate) => ({ value: before + candidate.value })),
  });
  if (choices.length > 0) return of(choices);
  if (name === '--api' || name === '--to') return of(APIS);
  if (name === '--namespace' || name === '--dry-run-namespace')
    return { ...NOTHING, names: { of: 'namespaces' } };
  if (name === '--context') return { ...NOTHING, names: { of: 'contexts' } };
  if (/<(bool|boolean)>/.test(flags) || value === 'optional') return of(BOOLEANS);
  return { ...NOTHING, files: OF_FILES.test(flags) };
}

function optionsOf({ options }: CommandModel, current: string): readonly Candidate[] {
  return options
    .filter(({ name }) => name.startsWith(current))
    .map(({ description, name }) => ({ value: name, description: firstSentence(description) }));
}

function commandsOf({ commands }: CommandModel, current: string): readonly Candidate[] {
  return commands
    .filter(({ name }) => name.startsWith(current))
    .map(({ description, name }) => ({ value: name, description: firstSentence(description) }));
}

function startingWith(values: readonly string[], current: string): readonly Candidate[] {
  return values.filter((value) => value.startsWith(current)).map((value) => ({ value }));
}

/** A list in a terminal has room for a line. */
function firstSentence(text: string): string {
  return (text.split(/[;:(]|\.(?= |$)/)[0] ?? '').trim();
}

function splitOnce(text: string, at: string): readonly [string, string?] {
  const index = text.indexOf(at);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}
