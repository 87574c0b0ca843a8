import type { Command } from 'commander';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { parseRef } from './shared-options.js';

/** The Deployment that a command is about, as it was typed. */
export interface Target {
  readonly ref: Required<ObjectRef>;
  /** Undefined: whichever API has it. */
  readonly api?: string;
  /** The kind of a set. @default it is a Deployment */
  readonly set?: 'statefulset' | 'daemonset';
}

export interface TargetFlags {
  readonly namespace?: string;
  readonly api?: string;
}

export const TARGET_HELP = 'deployment/NAME, deployment NAME, NAMESPACE/NAME or NAME';
/** The same for commands that take StatefulSets. */
export const ROLLOUT_TARGET_HELP = `${TARGET_HELP}; or statefulset/NAME, daemonset/NAME`;

/** `-n, --namespace`, as kubectl has it. */
export function addNamespaceOption(command: Command): Command {
  return command.option('-n, --namespace <name>', 'the namespace of the Deployment (default: default)');
}

/**
 * The words that name a Deployment, in each form that kubectl takes, and `NAMESPACE/NAME`. A kind before a slash is a kind: a
 * namespace that is called `deployment` is named by `-n`.
 * @param works the kinds that the command takes, as the end of the refusal of another one
 * @throws InvalidOptionError
 */
export function parseTarget(
  words: readonly string[],
  flags: TargetFlags,
  works = 'only deployment is',
): Target {
  const { kind, name } = splitTarget(words, works);
  const ofKind = kind === undefined ? undefined : apiOfKind(kind);
  if (flags.api !== undefined && ofKind !== undefined && flags.api !== ofKind)
    throw new InvalidOptionError('api', `"${flags.api}" conflicts with the kind ${kind}`);
  return { ref: refOf(name, flags), api: flags.api ?? ofKind };
}

/** As {@link parseTarget}, and a set where its kind is named. @throws InvalidOptionError */
export function parseRolloutTarget(words: readonly string[], flags: TargetFlags): Target {
  const typed = typedObject(words, (word) => STATEFUL_SET.test(word) || DAEMON_SET.test(word));
  if (!typed) return parseTarget(words, flags, 'only deployment, statefulset and daemonset are');
  if (flags.api !== undefined)
    throw new InvalidOptionError('api', `"${flags.api}" conflicts with the kind ${typed.kind}`);
  const set = DAEMON_SET.test(typed.kind) ? 'daemonset' : 'statefulset';
  return { ref: refOf(typed.name, flags), set };
}

const DAEMON_SET = /^(ds|daemonsets?)((\.v1)?\.apps)?$/i;
const STATEFUL_SET = /^(sts|statefulsets?)((\.v1)?\.apps)?$/i;

/** A word for a kind and the name after it, as they were typed. */
interface TypedObject {
  readonly kind: string;
  readonly name: string;
}

/**
 * The kind and name in `KIND/NAME`, `KIND NAME` or `KIND NAMESPACE/NAME`. Undefined where the first word is no kind.
 * @param isKind which words are kinds
 * @throws InvalidOptionError
 */
export function typedObject(
  words: readonly string[],
  isKind: (word: string) => boolean,
): TypedObject | undefined {
  const [first = '', second, ...more] = words;
  const slash = first.indexOf('/');
  const kind = slash < 0 ? first : first.slice(0, slash);
  if (!isKind(kind)) return undefined;
  const name = slash < 0 ? second : first.slice(slash + 1);
  if (name === undefined || name === '') throw new InvalidOptionError('name', `is missing after ${kind}`);
  if (more.length > 0 || (slash >= 0 && second !== undefined))
    throw new InvalidOptionError('name', `one object at a time: "${words.join(' ')}" names several`);
  return { kind, name };
}

/**
 * The object that a name means: in the namespace of `-n`, or that before a slash, or `default`.
 * @throws InvalidOptionError
 */
export function refOf(name: string, { namespace }: Pick<TargetFlags, 'namespace'>): Required<ObjectRef> {
  if (namespace !== undefined && name.includes('/'))
    throw new InvalidOptionError('namespace', `is set twice: -n ${namespace}, and in "${name}"`);
  return parseRef(namespace === undefined ? name : `${namespace}/${name}`);
}

function splitTarget(
  words: readonly string[],
  works: string,
): { readonly kind?: string; readonly name: string } {
  const [first = '', second, ...more] = words;
  if (more.length > 0)
    throw new InvalidOptionError('name', `one Deployment at a time: "${words.join(' ')}" names several`);
  if (second !== undefined) {
    if (!isDeploymentKind(first))
      throw new InvalidOptionError('kind', `"${first}" is not supported; ${works}`);
    return { kind: first, name: second };
  }
  const slash = first.indexOf('/');
  const before = slash < 0 ? first : first.slice(0, slash);
  if (!isDeploymentKind(before)) return { name: first };
  if (slash < 0) throw new InvalidOptionError('name', `is missing after ${first}`);
  return { kind: before, name: first.slice(slash + 1) };
}

const OF_EITHER = /^(deploy|deployments?)$/i;
const OF_APPS = /^(deploy|deployments?)(\.v1)?\.apps$/i;
const OF_ROLLKEEPER = /^(rkd|deployments?(\.v1)?\.rollkeeper\.dev)$/i;

function isDeploymentKind(word: string): boolean {
  return OF_EITHER.test(word) || OF_APPS.test(word) || OF_ROLLKEEPER.test(word);
}

function apiOfKind(kind: string): string | undefined {
  if (OF_APPS.test(kind)) return 'apps/v1';
  return OF_ROLLKEEPER.test(kind) ? 'rollkeeper.dev/v1' : undefined;
}
