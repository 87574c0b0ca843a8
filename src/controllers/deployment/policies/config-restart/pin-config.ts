import { createHash } from 'node:crypto';
import type { DeepReadonly, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { ownField } from '@rollkeeper/machinery/kubernetes';
import type { ConfigCopies, SourceName } from '../../../shared/index.js';
import { PINNED_CONFIG, parseSource } from '../../../shared/index.js';
import type { ConfigCopy } from '../common/config-copy.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { ConfigContents } from './config-digests.js';
import { MISSING } from './config-record.js';
import { configReferences } from './config-sources.js';

type Template = DeepReadonly<PodTemplateSpec>;

/** The configuration that a version of a template would be pinned to now. */
export interface Pin {
  /** A digest of all sources together. */
  readonly digest: string;
  /** The digest of each; {@link MISSING} for an optional one that does not exist. */
  readonly sources: ReadonlyMap<SourceName, string>;
  /** The objects that do not exist, and without which pods cannot start. */
  readonly missing: readonly SourceName[];
}

/** Secrets that hold a token are left out, because a token that was replaced may be revoked. */
export function pinOf(
  template: Template,
  except: ReadonlySet<SourceName>,
  { contents, namespace }: { readonly contents: ConfigContents; readonly namespace: string },
): Pin {
  const sources = new Map<SourceName, string>();
  const missing: SourceName[] = [];
  for (const [source, { isRequired }] of [...configReferences(template)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  )) {
    const found = contents.find(namespace, source);
    if (except.has(source) || found?.isToken) continue;
    if (!found && isRequired) missing.push(source);
    sources.set(source, found?.content.digest ?? MISSING);
  }
  const digest = shortDigest([...sources].map(([source, each]) => `${source}=${each}`));
  return { digest, sources, missing };
}

/** The template of a version that reads copies of this configuration. */
export function withPin(template: Template, digest: string): Template {
  const annotations = { ...template.metadata?.annotations, [PINNED_CONFIG]: digest };
  return { ...template, metadata: { ...template.metadata, annotations } };
}

/** The template of a version that reads the originals. */
export function withoutPin(template: Template): Template {
  const { [PINNED_CONFIG]: _digest, ...annotations } = template.metadata?.annotations ?? {};
  const { annotations: _all, ...metadata } = template.metadata ?? {};
  const isEmpty = Object.keys(annotations).length === 0;
  return { ...template, metadata: isEmpty ? metadata : { ...metadata, annotations } };
}

/** The note of the copies of a ReplicaSet that exists. */
export function copiesOf({ observed }: ReplicaSetDraft, { sources }: Pin): ConfigCopies {
  const uid = observed?.metadata.uid ?? '';
  return Object.fromEntries(
    [...sources].map(([source, digest]) => [
      source,
      { name: copyName(uid, source, digest), ...(digest !== MISSING && { digest }) },
    ]),
  );
}

/**
 * The copies that a ReplicaSet notes and that do not exist, as far as their sources still have the content. A user who may write the
 * note makes no object by it: a name that is not that of a copy, or a source with a token, counts as lost.
 * @returns lost: the copies that cannot be made again
 */
export function copiesToMake(
  set: ReplicaSetDraft,
  copies: ConfigCopies,
  { contents, namespace }: { readonly contents: ConfigContents; readonly namespace: string },
): { readonly orders: readonly ConfigCopy[]; readonly lost: readonly SourceName[] } {
  const orders: ConfigCopy[] = [];
  const lost: SourceName[] = [];
  const { apiVersion, kind, metadata } = set.observed ?? {};
  for (const source of Object.keys(copies) as SourceName[]) {
    const { digest, name } = ownField(copies, source) ?? {};
    if (digest === undefined || name === undefined) continue;
    if (contents.find(namespace, `${parseSource(source).kind}/${name}`)) continue;
    const found = contents.find(namespace, source);
    const isOurs = name === copyName(metadata?.uid ?? '', source, digest) && found?.isToken !== true;
    if (found?.content.digest !== digest || !isOurs) lost.push(source);
    else
      orders.push({
        ...{ source, namespace, name, digest },
        owner: {
          apiVersion: apiVersion ?? 'apps/v1',
          kind: kind ?? 'ReplicaSet',
          name: set.name,
          uid: metadata?.uid ?? '',
          controller: true,
        },
      });
  }
  return { orders, lost };
}

/** Characters of the name of a source in that of its copy. */
const LONGEST_NAME = 200;

/** `web-config-1f0c3a9d52`: of no use to a guess, because the ReplicaSet's UID is unknown before it exists. */
function copyName(replicaSetUid: string, source: SourceName, digest: string): string {
  const { name } = parseSource(source);
  const stem = name.slice(0, LONGEST_NAME).replace(/[.-]$/, '');
  return `${stem}-${shortDigest([replicaSetUid, source, digest]).slice(0, 10)}`;
}

function shortDigest(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
}

/** The parts that a version reads beside its copies, and that may therefore change under it, for people. */
export function unpinnedParts(template: Template, pin: Pin): readonly string[] {
  const { imagePullSecrets = [], volumes = [] }: Partial<NonNullable<Template['spec']>> = template.spec ?? {};
  const others = [...configReferences(template).keys()].filter((source) => !pin.sources.has(source));
  const absent = [...pin.sources].filter(([, digest]) => digest === MISSING);
  const tokens = volumes.filter(({ projected }) =>
    projected?.sources?.some((each) => each.serviceAccountToken ?? each.clusterTrustBundle),
  );
  return [
    ...others,
    ...absent.map(([source]) => `${source}, which does not exist and stays missing for this version`),
    ...imagePullSecrets.map((each) => `imagePullSecret ${each.name ?? ''}`),
    ...tokens.map(({ name }) => `the tokens in volume ${name}`),
    ...volumes.filter(({ csi }) => csi).map(({ name }) => `CSI volume ${name}`),
  ];
}
