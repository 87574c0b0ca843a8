import { findCondition, goQuote, sameJson, transitionTime } from '@rollkeeper/machinery/kubernetes';
import type { CustomResourceDefinitionNames } from '@rollkeeper/machinery/types/apiextensions-v1';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { APPROVAL_ANNOTATION, approvalOfDefinition, refusalOf } from '../../../kinds/index.js';
import type { Approval, Definition } from '../../../kinds/index.js';

type Names = CustomResourceDefinitionNames;
type Status = NonNullable<Definition['status']>;
type Condition = NonNullable<Status['conditions']>[number];

/**
 * Decides which names a definition gets, and whether its resources are served: a name that another definition of the
 * group has got is refused, and what was served once stays so. Where the server itself answers, no definition is served.
 * Source: calculateNamesAndConditions in apiextensions-apiserver/pkg/controller/status/naming_controller.go.
 * @param taken the names that the other definitions of the group have got
 * @returns undefined when the status says all that already
 */
export function decideDefinitionStatus(
  definition: Readonly<Definition>,
  taken: readonly Partial<Names>[],
  nowMs: number,
): Status | undefined {
  const { spec, status } = definition;
  const reserved = refusalOf(definition);
  const { acceptedNames, refusal } =
    reserved === undefined
      ? decideNames(spec.names, status?.acceptedNames, taken)
      : { acceptedNames: NO_NAMES, refusal: refused('Reserved', reserved) };
  const wasEstablished = reserved === undefined && isEstablished(definition);
  const conditions = [
    ...approvalConditions(definition).map((approval) => setCondition(definition, nowMs, approval)),
    setCondition(definition, nowMs, {
      type: 'NamesAccepted',
      ...(refusal ?? { status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }),
    }),
    setCondition(
      definition,
      nowMs,
      wasEstablished || !refusal
        ? {
            type: 'Established',
            status: 'True',
            reason: 'InitialNamesAccepted',
            message: 'the initial names have been accepted',
          }
        : {
            type: 'Established',
            status: 'False',
            reason: 'NotAccepted',
            message: 'not all names are accepted',
          },
    ),
  ];
  const others = status?.conditions?.filter(({ type }) => !conditions.some((own) => own.type === type)) ?? [];
  const decided: Status = {
    ...status,
    storedVersions: status?.storedVersions ?? [],
    acceptedNames,
    conditions: [...conditions, ...others],
  };
  return sameJson(decided, status) ? undefined : decided;
}

/**
 * Whether a definition in a group of Kubernetes itself has been approved.
 * Source: calculateCondition in apiextensions-apiserver/pkg/controller/apiapproval, GetAPIApprovalState in pkg/apihelpers.
 */
function approvalConditions(definition: Readonly<Definition>): Omit<Condition, 'lastTransitionTime'>[] {
  const approval = approvalOfDefinition(definition);
  if (!approval) return [];
  const { reason, status, message } = approvalText(
    approval,
    definition.metadata.annotations?.[APPROVAL_ANNOTATION] ?? '',
  );
  return [{ type: 'KubernetesAPIApprovalPolicyConformant', status, reason, message }];
}

function approvalText(approval: Approval, text: string): Pick<Condition, 'status' | 'reason' | 'message'> {
  const before = `protected groups must have approval annotation "${APPROVAL_ANNOTATION}"`;
  const after = ', see https://github.com/kubernetes/enhancements/pull/1111';
  switch (approval) {
    case 'approved':
      return { status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${text}` };
    case 'bypassed':
      return { status: 'False', reason: 'UnapprovedAnnotation', message: `not approved: ${goQuote(text)}` };
    case 'missing':
      return { status: 'False', reason: 'MissingAnnotation', message: `${before}${after}` };
    case 'invalid': {
      const message = `${before} with either a URL or a reason starting with "unapproved"${after}`;
      return { status: 'False', reason: 'InvalidAnnotation', message };
    }
  }
}

/** The status of a deleted definition whose objects could not be deleted yet. */
export function statusWhileTerminating(
  definition: Readonly<Definition>,
  nowMs: number,
  { message, reason }: { readonly reason: string; readonly message: string },
): Status {
  const condition = setCondition(definition, nowMs, { type: 'Terminating', status: 'True', reason, message });
  const { status } = definition;
  const others = status?.conditions?.filter(({ type }) => type !== 'Terminating') ?? [];
  return {
    ...status,
    storedVersions: status?.storedVersions ?? [],
    acceptedNames: status?.acceptedNames ?? NO_NAMES,
    conditions: [...others, condition],
  };
}

/** Whether the resources of a definition are served. */
export function isEstablished({ status }: Readonly<Definition>): boolean {
  return (
    status?.conditions?.some(({ type, status: state }) => type === 'Established' && state === 'True') ?? false
  );
}

const NO_NAMES: Names = { plural: '', kind: '' };

type Refusal = Pick<Condition, 'status' | 'reason' | 'message'>;

function decideNames(
  wanted: Names,
  before: Partial<Names> | undefined,
  taken: readonly Partial<Names>[],
): { readonly acceptedNames: Names; readonly refusal?: Refusal } {
  const resources = new Set(
    taken.flatMap(({ plural, singular, shortNames = [] }) => [plural, singular, ...shortNames]),
  );
  const kinds = new Set(taken.flatMap(({ kind, listKind }) => [kind, listKind]));
  const accepted: Names = { ...before, plural: before?.plural ?? '', kind: before?.kind ?? '' };
  const refusals: Refusal[] = [];
  const refuse = (reason: string, names: readonly string[]): void =>
    void refusals.push(
      refused(reason, names.map((name) => `${JSON.stringify(name)} is already in use`).join(', ')),
    );
  if (resources.has(wanted.plural)) refuse('PluralConflict', [wanted.plural]);
  else accepted.plural = wanted.plural;
  if (wanted.singular && resources.has(wanted.singular)) refuse('SingularConflict', [wanted.singular]);
  else if (wanted.singular) accepted.singular = wanted.singular;
  const shortConflicts = (wanted.shortNames ?? []).filter((name) => resources.has(name));
  if (shortConflicts.length > 0) refuse('ShortNamesConflict', shortConflicts);
  else if (wanted.shortNames) accepted.shortNames = [...wanted.shortNames];
  else delete accepted.shortNames;
  if (kinds.has(wanted.kind)) refuse('KindConflict', [wanted.kind]);
  else accepted.kind = wanted.kind;
  if (wanted.listKind && kinds.has(wanted.listKind)) refuse('ListKindConflict', [wanted.listKind]);
  else if (wanted.listKind) accepted.listKind = wanted.listKind;
  if (wanted.categories) accepted.categories = [...wanted.categories];
  else delete accepted.categories;
  const refusal = refusals.at(-1);
  return { acceptedNames: accepted, ...(refusal && { refusal }) };
}

function refused(reason: string, message: string): Refusal {
  return { status: 'False', reason, message };
}

/** The condition as it is now; its time stays while its status does. */
function setCondition(
  { status }: Readonly<Definition>,
  nowMs: number,
  condition: Pick<Condition, 'type' | 'status' | 'reason' | 'message'>,
): Condition {
  const before = findCondition(status?.conditions, condition.type);
  const lastTransitionTime = transitionTime(before, condition.status, toRfc3339(nowMs));
  return { ...condition, lastTransitionTime };
}
