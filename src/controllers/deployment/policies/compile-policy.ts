import { shortenedTo } from '../../shared/index.js';
import type { Annotations } from '../kubernetes/annotations.js';
import { annotationOf } from './common/names.js';
import type { GivenSettings, PolicyProblem, PolicyShape, Writable } from './common/settings.js';
import { SETTINGS, settingsOf } from './known-names.js';
import { ALL_SETTINGS, NO_POLICY, type PolicyFields, type RolloutPolicy } from './policies.js';
import { unknownNames } from './unknown-names.js';

export type CompiledPolicy =
  | { readonly kind: 'none' }
  | { readonly kind: 'policy'; readonly policy: RolloutPolicy }
  /** `policy` is what can be read of it, with {@link RolloutPolicy.unclear}. */
  | {
      readonly kind: 'invalid';
      readonly problems: readonly PolicyProblem[];
      readonly policy: RolloutPolicy;
    };

const NONE: CompiledPolicy = { kind: 'none' };
const ASKED = ALL_SETTINGS.reduce<Partial<PolicyFields>>((all, { asked }) => ({ ...all, ...asked }), {});

/**
 * The policy that the annotations of a Deployment ask for, with those of its Namespace as defaults; an empty value turns a default
 * off. After one wrong value it is unclear what protects a rollout, so no new version may begin until it is corrected.
 */
export function compilePolicy(
  deployment: Annotations | undefined,
  namespace: Annotations | undefined,
  shape: PolicyShape = { isRollingUpdate: true },
): CompiledPolicy {
  const { refuses } = shape;
  const given = givenSettings(deployment, namespace).filter(
    ({ isDefault, setting, text }) => !isDefault || refuses?.(setting, text) === undefined,
  );
  const problems: PolicyProblem[] = [...unknownNames(deployment, namespace)];
  const fields: Writable<PolicyFields> = {};
  for (const { setting, text, where } of given) {
    const why = refuses?.(setting, text) ?? read(setting, text, fields);
    if (why !== undefined)
      problems.push({ annotation: `${annotationOf(setting)}${where}`, value: text, why });
  }
  const view = viewOf(given, deployment, shape);
  let isAsked = given.length > 0;
  for (const { combine } of ALL_SETTINGS) {
    const combined = combine?.(fields, view);
    Object.assign(fields, combined?.fields);
    problems.push(...(combined?.problems ?? []));
    isAsked ||= combined?.isAsked === true;
  }
  const policy = { ...NO_POLICY, ...ASKED, ...fields };
  if (problems.length > 0) return { kind: 'invalid', problems, policy: readable(policy, problems) };
  return isAsked ? { kind: 'policy', policy } : NONE;
}

/** Why a setting cannot have a value, in any combination. @param text not empty */
export function valueProblem(setting: string, text: string): string | undefined {
  return read(setting, text, {});
}

function read(setting: string, text: string, fields: Writable<PolicyFields>): string | undefined {
  return settingsOf(setting)?.readers[setting]?.(text, fields);
}

function viewOf(given: readonly Given[], annotations: Annotations = {}, shape: PolicyShape): GivenSettings {
  const find = (setting: string): Given | undefined => given.find((each) => each.setting === setting);
  return {
    annotations,
    shape,
    has: (setting) => find(setting) !== undefined,
    textOf: (setting) => find(setting)?.text,
    problemOf: (setting, why) => {
      const found = find(setting);
      return { annotation: `${annotationOf(setting)}${found?.where ?? ''}`, value: found?.text ?? '', why };
    },
  };
}

/** Without what does not go with the rest. */
function readable(policy: RolloutPolicy, problems: readonly PolicyProblem[]): RolloutPolicy {
  const wrong = new Set(problems.map(({ annotation }) => annotation.split(' ')[0]));
  const left = ALL_SETTINGS.flatMap(({ ifWrong = {} }) =>
    Object.entries(ifWrong).flatMap(([setting, fields]) =>
      wrong.has(annotationOf(setting)) ? [fields] : [],
    ),
  );
  const unclear = renderProblems(problems);
  return left.reduce<RolloutPolicy>((all, fields) => ({ ...all, ...fields }), { ...policy, unclear });
}

/** `rollkeeper.dev/steps: "20%%": …`; the first of many. */
export function renderProblems(problems: readonly PolicyProblem[]): string {
  const named = problems.slice(0, MOST_NAMED).map(renderProblem);
  const more = problems.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** One of {@link renderProblems}. */
export function renderProblem({ annotation, value, why }: PolicyProblem): string {
  return `${annotation}: "${shortenedTo(LONGEST_VALUE, value)}" ${shortenedTo(LONGEST_REASON, why)}`;
}

/** In one message; a condition is read by people. */
const MOST_NAMED = 10;

/** The longest wrong value in a message. Characters. */
const LONGEST_VALUE = 80;
/** The longest reason in a message: it may repeat a part of the value. Characters. */
export const LONGEST_REASON = 300;

interface Given {
  readonly setting: string;
  readonly text: string;
  /** Whether it comes from the Namespace. */
  readonly isDefault: boolean;
  /** Appended to the annotation in the message of a problem. */
  readonly where: string;
}

function givenSettings(
  deployment: Annotations | undefined,
  namespace: Annotations | undefined,
): readonly Given[] {
  return SETTINGS.flatMap((setting): Given[] => {
    const name = annotationOf(setting);
    const own = deployment?.[name];
    const text = (own ?? namespace?.[name] ?? '').trim();
    const isDefault = own === undefined;
    return text === '' ? [] : [{ setting, text, isDefault, where: isDefault ? ' of the Namespace' : '' }];
  });
}
