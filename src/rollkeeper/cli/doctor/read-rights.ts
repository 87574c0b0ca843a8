import type { ApiClient } from '@rollkeeper/client/api-client';
import { ConcurrencyLimit } from '@rollkeeper/machinery/concurrency';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { SelfSubjectAccessReview, SubjectAccessReview, untyped } from '@rollkeeper/machinery/kubernetes';
import type { ReviewedRight, RightsFacts } from './decide-rights.js';
import type { Installation, NeededRight, RightsOwner } from './needed-rights.js';
import { KNOWN_CONTROLLERS, neededRights } from './needed-rights.js';
import type { Asker } from './read-api.js';
import { asking } from './read-api.js';
import { review } from '../../admin/delegated-access/index.js';

/** `undefined`: the user of the connection. */
export type SubjectOf = (owner: RightsOwner) => string | undefined;

/** Reviews at once: few enough for priority and fairness. */
const AT_ONCE = 8;

/** Asks for each right with an access review: unlike a list of rules, its answer is also that of webhook authorizers. */
export async function readRights(
  client: ApiClient,
  installation: Installation,
  subjectOf: SubjectOf,
  asker: Asker,
): Promise<RightsFacts> {
  const limit = new ConcurrencyLimit(AT_ONCE);
  const isAllowed = (right: NeededRight, subject: string | undefined): Promise<boolean> =>
    limit.run(() => isAllowedByReview(client, right, subject, asker.signal));
  const others = installation.controllers.filter(
    (name) => !KNOWN_CONTROLLERS.some((known) => known === name),
  );
  const owners = neededRights(installation).map(async ({ owner, rights }) => {
    const subject = subjectOf(owner);
    const reviewed = await asking(asker, () =>
      Promise.all(
        inEachNamespace(rights, installation.namespaces).map(async (right): Promise<ReviewedRight> => ({
          right,
          allowed: await isAllowed(right, subject),
        })),
      ),
    );
    return { owner, subject: subject ?? 'the user of the kubeconfig', reviewed };
  });
  const everything = await asking(asker, () =>
    others.length === 0
      ? Promise.resolve(false)
      : isAllowed({ verb: '*', group: '*', resource: '*' }, subjectOf('replica')),
  );
  const mayDoEverything = everything.is === 'answered' && everything.value;
  return { owners: await Promise.all(owners), others, mayDoEverything };
}

/** A right that is about no namespace of its own is needed in each of the installation's. */
function inEachNamespace(
  rights: readonly NeededRight[],
  namespaces: readonly string[],
): readonly NeededRight[] {
  if (namespaces.length === 0) return rights;
  return rights.flatMap((right) =>
    right.namespace === undefined ? namespaces.map((namespace) => ({ ...right, namespace })) : [right],
  );
}

type Answered = KubernetesObject & { readonly status?: { readonly allowed?: boolean } };

async function isAllowedByReview(
  client: ApiClient,
  { group, name, namespace, resource, verb }: NeededRight,
  subject: string | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const [base = '', subresource] = resource.split('/');
  const resourceAttributes = { verb, group, resource: base, subresource, name, namespace };
  const type = untyped(subject === undefined ? SelfSubjectAccessReview : SubjectAccessReview);
  const spec = {
    resourceAttributes,
    ...(subject !== undefined && { user: subject, groups: groupsOf(subject) }),
  };
  const question: Answered = review('authorization.k8s.io/v1', type.kind, spec);
  const { status } = await client.create(type, question, { signal });
  return status?.allowed === true;
}

/** The groups that the API server gives to a service account. */
function groupsOf(user: string): readonly string[] {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(user) ?? [];
  if (namespace === undefined) return ['system:authenticated'];
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
}
