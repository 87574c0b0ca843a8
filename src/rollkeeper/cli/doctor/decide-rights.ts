import type { Asked, Finding } from './finding.js';
import { failure, ok, orElse, skipped, someOf, warning } from './finding.js';
import type { NeededRight, RightsOwner } from './needed-rights.js';
import { describeRight } from './needed-rights.js';

/** The answer to one review. */
export interface ReviewedRight {
  readonly right: NeededRight;
  readonly allowed: boolean;
}

/** The rights of one owner, as the API judges them. */
interface ReviewedRights {
  readonly owner: RightsOwner;
  /** The user whose rights were asked for, or `you`. */
  readonly subject: string;
  readonly reviewed: Asked<readonly ReviewedRight[]>;
}

export interface RightsFacts {
  readonly owners: readonly ReviewedRights[];
  /** Controllers whose rights are not known one by one. */
  readonly others: readonly string[];
  /** Whether the subject may do everything, which covers those. */
  readonly mayDoEverything: boolean;
}

export function decideRights(asked: Asked<RightsFacts>): readonly Finding[] {
  if (asked.is !== 'answered') return [skipped('rights', `rights were not checked: ${asked.why}`)];
  const { mayDoEverything, others, owners } = asked.value;
  return [
    ...owners.flatMap(decideOwner),
    ...(others.length === 0 || mayDoEverything
      ? []
      : [
          skipped(
            'rights',
            `the rights of ${someOf(others)} are not checked one by one`,
            'the check "caches" and the log report missing rights',
          ),
        ]),
  ];
}

function decideOwner({ owner, reviewed, subject }: ReviewedRights): readonly Finding[] {
  const whose = owner === 'replica' ? 'a replica' : `the controller ${owner}`;
  if (reviewed.is !== 'answered')
    return [
      warning(
        'rights',
        `whether ${subject} has the rights that ${whose} needs could not be checked: ${reviewed.why}`,
        'checking another account needs the right to create subjectaccessreviews.authorization.k8s.io; or run this with the kubeconfig of the replicas and without --service-account',
      ),
    ];
  const missing = reviewed.value.filter(({ allowed }) => !allowed).map(({ right }) => describeRight(right));
  return orElse(
    missing.length === 0
      ? []
      : [
          failure(
            'rights',
            `${subject} may not: ${someOf(missing, 8)}; ${whose} needs ${missing.length === 1 ? 'it' : 'them'}`,
            'grant them: the chart’s ClusterRole has all of them (helm upgrade restores it), or check the replicas’ own account with --service-account NAMESPACE/NAME',
          ),
        ],
    ok('rights', `${subject} has all rights that ${whose} needs (${reviewed.value.length} rights)`),
  );
}
