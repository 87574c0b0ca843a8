import type {
  AllocatedDeviceStatus,
  DeviceRequest,
  DeviceRequestAllocationResult,
  ResourceClaim,
  ResourceClaimStatus,
  ResourceClaimTemplate,
} from '@rollkeeper/machinery/types/resource-v1';
import { objectOfKind, ownField, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DecodedObject, Namespace } from '@rollkeeper/machinery/kubernetes';
import type { ResourceAttributes } from '../../../cel/library/access-attributes.js';
import { accountOfUsername } from '../../auth/index.js';
import type { UserInfo } from '../../auth/index.js';
import { describeRefusal } from '../../authorization/index.js';
import { forbidden as forbiddenAnswer } from '../../../schema/errors/index.js';
import type { FieldError } from '../../../schema/errors/index.js';
import type { FollowedObjects } from '../../../storage/index.js';
import type { WriteAttributes } from '../attributes.js';
import type { Plugin } from '../plugin.js';
import type { AccessDecider } from '../request-authority.js';

type Requests = readonly Decoded<DeviceRequest>[] | null | undefined;
type Results = readonly Decoded<DeviceRequestAllocationResult>[] | null | undefined;
type Status = Decoded<ResourceClaimStatus>;

/** A Namespace with this label set to `true` may hold claims to devices that others use. */
const ADMIN_ACCESS_LABEL = 'resource.kubernetes.io/admin-access';

type Namespaces = Pick<FollowedObjects<Namespace>, 'lookUp'>;

interface ClaimKnowledge {
  readonly access: AccessDecider;
  readonly namespaces: Namespaces;
}

/** No plug-ins in kube-apiserver: they are part of the resources there, and cannot be disabled either. */
export function claimPlugins({ access, namespaces }: ClaimKnowledge): readonly Plugin[] {
  const name = 'ResourceClaimRights';
  const resource = 'resourceclaims.resource.k8s.io';
  return [
    ...[resource, 'resourceclaimtemplates.resource.k8s.io'].map((each) => ({
      name,
      resource: each,
      problems: async (attributes: WriteAttributes) =>
        attributes.operation === 'CREATE' ? checkAdminAccess(attributes, namespaces) : [],
    })),
    {
      name,
      resource,
      subresource: 'status',
      problems: (attributes) => checkClaimStatusWrite(attributes, { access, namespaces }),
    },
  ];
}

/**
 * Complains of a new claim, or a new template of claims, with `adminAccess` in a namespace without the label. The spec cannot
 * change afterwards. Source: AuthorizedForAdmin in k/k pkg/registry/resource/utils.go, which names both in the same words.
 */
async function checkAdminAccess(
  { kind, namespace, object }: WriteAttributes,
  namespaces: Namespaces,
): Promise<readonly FieldError[]> {
  const { spec } =
    kind.type.resource === 'resourceclaimtemplates'
      ? (objectOfKind<DecodedObject<ResourceClaimTemplate>>(object).spec ?? {})
      : objectOfKind<DecodedObject<ResourceClaim>>(object);
  const requests: Requests = spec?.devices?.requests;
  const index = (requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess === true);
  if (index < 0 || (await allowsAdminAccess(namespace, namespaces))) return [];
  return [adminAccessForbidden(`spec.devices.requests[${index}].adminAccess`)];
}

/**
 * Complains of a status that allocates devices with `adminAccess` for the first time in such a namespace, and of changes that the
 * writer has no right to. Source: AuthorizedForAdminStatus, AuthorizedForBinding and AuthorizedForDeviceStatus, there.
 */
async function checkClaimStatusWrite(
  attributes: WriteAttributes,
  { access, namespaces }: ClaimKnowledge,
): Promise<readonly FieldError[]> {
  const [status, old] = [attributes.object, attributes.oldObject].map(
    (object): Status => (object && objectOfKind<DecodedObject<ResourceClaim>>(object).status) ?? {},
  ) as [Status, Status];
  return [
    ...(await adminAccessOfStatus(status, old, attributes.namespace, namespaces)),
    ...bindingProblems(status, old, attributes, access),
    ...driverProblems(status, old, attributes, access),
  ];
}

async function adminAccessOfStatus(
  status: Status,
  old: Status,
  namespace: string,
  namespaces: Namespaces,
): Promise<readonly FieldError[]> {
  if (firstWithAdminAccess(old) >= 0) return [];
  const index = firstWithAdminAccess(status);
  if (index < 0 || (await allowsAdminAccess(namespace, namespaces))) return [];
  return [adminAccessForbidden(`status.allocation.devices.results[${index}].adminAccess`)];
}

function firstWithAdminAccess({ allocation }: Status): number {
  const results: Results = allocation?.devices?.results;
  return (results ?? []).findIndex(({ adminAccess }) => adminAccess === true);
}

/** The label may just have been taken away, so that the store is asked, and not what is remembered of it. */
async function allowsAdminAccess(namespace: string, namespaces: Namespaces): Promise<boolean> {
  const labels = (await namespaces.lookUp('', namespace))?.metadata.labels ?? {};
  return ownField(labels, ADMIN_ACCESS_LABEL) === 'true';
}

function adminAccessForbidden(field: string): FieldError {
  return forbidden(
    field,
    `admin access to devices requires the \`${ADMIN_ACCESS_LABEL}: true\` label on the containing namespace`,
  );
}

/** To allocate devices and to say who uses them is the right of schedulers and controllers, for the whole cluster. */
function bindingProblems(
  status: Status,
  old: Status,
  attributes: WriteAttributes,
  access: AccessDecider,
): readonly FieldError[] {
  if (sameMeaning(status.allocation, old.allocation) && sameMeaning(status.reservedFor, old.reservedFor))
    return [];
  const verb = verbOf(attributes);
  const refusal = refusalOf(attributes, access, {
    verb,
    subresource: 'binding',
    namespace: '',
    name: '',
  });
  if (refusal === undefined) return [];
  const what = 'changing status.allocation or status.reservedFor requires';
  return [
    forbidden('status', `${what} resource="resourceclaims/binding", verb="${verb}" permission: ${refusal}`),
  ];
}

/** Only a driver may write the status of its devices, by name, and only on a claim on its node unless it may on all. */
function driverProblems(
  status: Status,
  old: Status,
  attributes: WriteAttributes,
  access: AccessDecider,
): readonly FieldError[] {
  const drivers = changedDrivers(status, old);
  if (drivers.length === 0) return [];
  const { caller, namespace } = attributes;
  const isOnNode = isAccountOnNode(caller.user, nodeOfAllocation(status));
  const verbs = [...(isOnNode ? ['associated-node'] : []), 'arbitrary-node'].map(
    (prefix) => `${prefix}:${verbOf(attributes)}`,
  );
  return drivers.flatMap((name) => {
    const refusals = verbs.map((verb) =>
      refusalOf(attributes, access, { verb, subresource: 'driver', namespace, name }),
    );
    if (refusals.includes(undefined)) return [];
    const what = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]"`;
    return [forbidden('status.devices', `${what} permission: ${refusals[0]}`)];
  });
}

/**
 * The drivers of devices about which something else is said than before, in order. What goes because the device is no longer
 * allocated is the business of who releases it.
 */
function changedDrivers(status: Status, old: Status): readonly string[] {
  const before = new Map((old.devices ?? []).map((device) => [keyOf(device), device]));
  const changed = new Set<string>();
  for (const device of status.devices ?? []) {
    const key = keyOf(device);
    if (!before.has(key) || !sameMeaning(before.get(key), device)) changed.add(device.driver ?? '');
    before.delete(key);
  }
  const kept = allocatedKeys(status);
  const released = new Set([...allocatedKeys(old)].filter((key) => !kept.has(key)));
  for (const [key, { driver = '' }] of before) if (!released.has(key)) changed.add(driver);
  return [...changed].sort();
}

function allocatedKeys({ allocation }: Status): ReadonlySet<string> {
  const results: Results = allocation?.devices?.results;
  return new Set((results ?? []).map(keyOf));
}

function keyOf({
  device,
  driver,
  pool,
  shareID,
}: Pick<Decoded<AllocatedDeviceStatus>, 'device' | 'driver' | 'pool' | 'shareID'>): string {
  return JSON.stringify([driver, pool, device, shareID ?? '']);
}

/** @returns undefined for devices that more than one node can reach */
function nodeOfAllocation({ allocation }: Status): string | undefined {
  const terms = allocation?.nodeSelector?.nodeSelectorTerms ?? [];
  const { matchExpressions, matchFields } = terms[0] ?? {};
  const { key, operator, values } = matchFields?.[0] ?? {};
  const isOne = terms.length === 1 && matchFields?.length === 1 && (matchExpressions ?? []).length === 0;
  if (!isOne || key !== 'metadata.name' || operator !== 'In' || values?.length !== 1) return undefined;
  return values[0];
}

const NODE_OF_TOKEN = 'authentication.kubernetes.io/node-name';

/** Whether the user is a service account whose token is that of a pod on the node. */
function isAccountOnNode({ extra = {}, username }: UserInfo, node: string | undefined): boolean {
  const nodes = ownField(extra, NODE_OF_TOKEN) ?? [];
  return !!node && accountOfUsername(username) !== undefined && nodes.length === 1 && nodes[0] === node;
}

function verbOf({ caller }: WriteAttributes): string {
  return caller.verb ?? 'update';
}

/** @returns undefined: it is allowed */
function refusalOf(
  { caller, kind }: WriteAttributes,
  access: AccessDecider,
  asked: Pick<ResourceAttributes, 'name' | 'namespace' | 'subresource' | 'verb'>,
): string | undefined {
  const { group, resource } = kind.type;
  const question = { ...asked, group, resource };
  const { allowed, reason } = access.decide(caller.user, question);
  if (allowed) return undefined;
  return forbiddenAnswer(kind.type, asked.name, describeRefusal(caller.user, question, reason)).message;
}

function forbidden(field: string, problem: string): FieldError {
  return { type: 'FieldValueForbidden', field, message: `Forbidden: ${problem}` };
}
