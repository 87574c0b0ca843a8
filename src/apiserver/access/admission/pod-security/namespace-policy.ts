import { isOneOf } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../../../schema/errors/index.js';
import { invalidField } from '../../../kinds/index.js';

const LEVELS = ['privileged', 'baseline', 'restricted'] as const;
export type Level = (typeof LEVELS)[number];

/** A level as of one version of Kubernetes. */
export interface LevelVersion {
  readonly level: Level;
  /** The minor of version 1; `Infinity`: the latest. */
  readonly minor: number;
}

/** The levels that a namespace asks of its pods. */
export interface NamespacePolicy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
  /** Labels that could not be read. What they say counts as strictest for `enforce`, and not at all for the others. */
  readonly problems: readonly FieldError[];
}

const PREFIX = 'pod-security.kubernetes.io/';
const LATEST = Infinity;
const ANYTHING: LevelVersion = { level: 'privileged', minor: LATEST };
const UNRESTRICTED: NamespacePolicy = { enforce: ANYTHING, audit: ANYTHING, warn: ANYTHING, problems: [] };
const VERSION = /^v1\.(0|[1-9]\d{0,14})$/;

/** Reads the labels of a namespace. Without any, everything is allowed. */
export function namespacePolicyOf(labels: Readonly<Record<string, string>> = {}): NamespacePolicy {
  if (!Object.keys(labels).some((label) => label.startsWith(PREFIX))) return UNRESTRICTED;
  const problems: FieldError[] = [];
  const enforce = readMode(labels, 'enforce', { unreadable: 'restricted' }, problems);
  const audit = readMode(labels, 'audit', { unreadable: 'privileged' }, problems);
  const warn = readMode(labels, 'warn', { unreadable: 'privileged' }, problems);
  return { enforce, audit, warn: atLeastEnforced(labels, enforce, warn), problems };
}

/** As labels and messages write it: `baseline:v1.25`, `restricted:latest`. */
export function describeLevel({ level, minor }: LevelVersion): string {
  return `${level}:${minor === LATEST ? 'latest' : `v1.${minor}`}`;
}

/** Whether the first asks for more than the second, versions aside. */
export function isStricter(a: LevelVersion, b: LevelVersion): boolean {
  return LEVELS.indexOf(a.level) > LEVELS.indexOf(b.level);
}

export function isSameLevel(a: LevelVersion, b: LevelVersion): boolean {
  return a.level === b.level && a.minor === b.minor;
}

function readMode(
  labels: Readonly<Record<string, string>>,
  mode: 'enforce' | 'audit' | 'warn',
  { unreadable }: { readonly unreadable: Level },
  problems: FieldError[],
): LevelVersion {
  const level = labels[PREFIX + mode] ?? 'privileged';
  const version = labels[`${PREFIX}${mode}-version`] ?? 'latest';
  if (!isOneOf(level, LEVELS)) problems.push(unread(mode, level, `must be one of ${LEVELS.join(', ')}`));
  const minor = version === 'latest' ? LATEST : VERSION.exec(version)?.[1];
  if (minor === undefined) problems.push(unread(`${mode}-version`, version, 'must be "latest" or "v1.x"'));
  return { level: isOneOf(level, LEVELS) ? level : unreadable, minor: Number(minor ?? LATEST) };
}

function unread(label: string, value: string, problem: string): FieldError {
  return invalidField(`metadata.labels[${PREFIX}${label}]`, value, problem);
}

/** A namespace that enforces a level, and says nothing of warnings, warns at that level. */
function atLeastEnforced(
  labels: Readonly<Record<string, string>>,
  enforce: LevelVersion,
  warn: LevelVersion,
): LevelVersion {
  const isEnforced = isOneOf(labels[`${PREFIX}enforce`] ?? '', LEVELS);
  if (labels[`${PREFIX}warn`] !== undefined || !isEnforced || !isStricter(enforce, warn)) return warn;
  const hasVersion = labels[`${PREFIX}warn-version`] !== undefined;
  return { level: enforce.level, minor: hasVersion ? warn.minor : enforce.minor };
}
