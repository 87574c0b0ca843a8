import type { ApiClient, EventRecorder } from '@rollkeeper/runtime';
import { ConfigMap, Secret, isAlreadyExists, isNamespaceTerminating } from '@rollkeeper/runtime';
import { StaleCacheError, errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, Deployment, KubernetesObject, ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { SourceKind } from '../../../shared/index.js';
import { parseSource, shortenedTo } from '../../../shared/index.js';
import type { ConfigCopy } from '../common/config-copy.js';
import { PREFIX } from '../common/names.js';
import { warning } from '../common/tell.js';
import { digestOfSource } from './config-digests.js';

/** On a copy: the name of the ConfigMap or Secret that it was made of. */
const COPY_OF = `${PREFIX}copy-of`;
/** The longest message of the API in an Event, characters. */
const LONGEST_MESSAGE = 300;

interface Context {
  readonly client: ApiClient;
  readonly signal: AbortSignal;
  readonly events: EventRecorder;
}

interface WithContent extends KubernetesObject {
  readonly type?: string;
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

type Options = Pick<Context, 'signal'>;

/** The requests about one kind. */
interface CopyRequests {
  readonly kind: string;
  readonly get: (client: ApiClient, ref: ObjectRef, options: Options) => Promise<WithContent>;
  readonly create: (client: ApiClient, object: WithContent, options: Options) => Promise<WithContent>;
}

const REQUESTS: Readonly<Record<SourceKind, CopyRequests>> = {
  configmap: {
    kind: ConfigMap.kind,
    get: (client, ref, options) => client.get<WithContent>(ConfigMap, ref, options),
    create: (client, object, options) => client.create<WithContent>(ConfigMap, object, options),
  },
  secret: {
    kind: Secret.kind,
    get: (client, ref, options) => client.get<WithContent>(Secret, ref, options),
    create: (client, object, options) => client.create<WithContent>(Secret, object, options),
  },
};

/**
 * Makes the copies of ConfigMaps and Secrets, before the ReplicaSet names them. The content is read here, goes into the
 * copy alone, and is compared with the digest that was decided on. A copy that an earlier pass made is taken.
 * @throws StaleCacheError if the content has changed since; ApiStatusError
 */
export async function writeCopies(
  deployment: DeepReadonly<Deployment>,
  copies: readonly ConfigCopy[],
  { client, events, signal }: Context,
): Promise<void> {
  for (const copy of copies) {
    try {
      await writeCopy(copy, client, signal);
    } catch (error) {
      if (!(error instanceof StaleCacheError) && !isNamespaceTerminating(error) && !signal.aborted)
        events.record(deployment, refusedNote(copy, error));
      throw error;
    }
  }
}

async function writeCopy(copy: ConfigCopy, client: ApiClient, signal: AbortSignal): Promise<void> {
  const { kind, name } = parseSource(copy.source);
  const requests = REQUESTS[kind];
  const { namespace } = copy;
  const original = await requests.get(client, { namespace, name }, { signal });
  if (digestOfSource(kind, original) !== copy.digest)
    throw new StaleCacheError(`${copy.source} has changed since its copy was decided on`);
  const wanted = copyOf(original, copy, kind);
  try {
    await requests.create(client, wanted, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const existing = await requests.get(client, { namespace, name: copy.name }, { signal });
    if (!isSame(existing, wanted)) throw error;
  }
}

/** Neither labels nor annotations of the original are copied: others may select by them, and act on the copy. */
function copyOf({ binaryData, data, type }: WithContent, copy: ConfigCopy, kind: SourceKind): WithContent {
  const { name, namespace, owner, source } = copy;
  return {
    apiVersion: 'v1',
    kind: REQUESTS[kind].kind,
    metadata: {
      name,
      namespace,
      labels: { 'app.kubernetes.io/managed-by': 'rollkeeper' },
      annotations: { [COPY_OF]: parseSource(source).name },
      ownerReferences: [owner],
    },
    immutable: true,
    ...(type !== undefined && { type }),
    ...(data && { data }),
    ...(binaryData && { binaryData }),
  };
}

/** Someone else may have taken the name, with other content. */
function isSame(existing: WithContent, wanted: WithContent): boolean {
  return (
    controllerOf(existing)?.uid === controllerOf(wanted)?.uid &&
    existing.immutable === true &&
    sameJson(existing.data ?? {}, wanted.data ?? {}) &&
    sameJson(existing.binaryData ?? {}, wanted.binaryData ?? {})
  );
}

function refusedNote({ source }: ConfigCopy, error: unknown) {
  const message = `No pod of the new version starts, because no copy of ${source} can be made: ${errorMessage(error)}`;
  return warning('ConfigurationNotCopied', shortenedTo(LONGEST_MESSAGE, message));
}
