import { Buffer } from 'node:buffer';
import type { Deployment, KubernetesObject, Pod } from '../../src/machinery/kubernetes/index.js';
import type { MutatingWebhookConfiguration } from '../../src/runtime/index.js';

/** The sidecars that a mesh injects into new pods today. */
export interface Mesh {
  /** The version of the proxy, which each pod has. */
  readonly proxy: number;
  /** The version of the agent, which no pod has where it is 0. */
  readonly agent: number;
  /** The version of the tracer, which no pod has where it is 0. */
  readonly tracer: number;
  /** Whether each pod also gets a text and a volume that no other has. */
  readonly noise: boolean;
}

export const FIRST_MESH: Mesh = { proxy: 1, agent: 0, tracer: 0, noise: false };
/** By which the application in a pod says that it is empty, where the rule of its Deployment asks for it. */
export const SESSIONS = 'example.com/sessions';
export const MESH_NAME = 'mesh';
/** The pods of the Deployments that have this label in their template have sidecars. */
export const MESHED = { mesh: 'on' } as const;

/** The next mesh, by two chances from 0 to 1. */
export function nextMesh(mesh: Mesh, what: number, more: number): Mesh {
  if (what < 0.4) return { ...mesh, proxy: mesh.proxy + 1 };
  if (what < 0.65) return { ...mesh, agent: more < 0.3 ? 0 : mesh.agent + 1 };
  if (what < 0.85) return { ...mesh, tracer: more < 0.3 ? 0 : mesh.tracer + 1 };
  return { ...mesh, noise: !mesh.noise };
}

/** The path of the webhook says what it injects, so that both change in one write. */
export function meshPath({ agent, noise, proxy, tracer }: Mesh): string {
  return `/inject/${proxy}/${agent}/${tracer}/${noise ? 'noise' : 'plain'}`;
}

const PATH = /\/inject\/(\d+)\/(\d+)\/(\d+)\/(noise|plain)(?:\?|$)/;

/** The mesh of a URL with that path; undefined if it is none. */
export function meshOf(url: string): Mesh | undefined {
  const [, proxy, agent, tracer, noise] = PATH.exec(url) ?? [];
  if (proxy === undefined) return undefined;
  return { proxy: Number(proxy), agent: Number(agent), tracer: Number(tracer), noise: noise === 'noise' };
}

/** A webhook that is called for new pods with {@link MESHED}, and without which there are none. */
export function meshConfiguration(
  mesh: Mesh,
  { caBundle, origin }: { readonly origin: string; readonly caBundle?: string },
): MutatingWebhookConfiguration {
  return {
    ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration' },
    metadata: { name: MESH_NAME },
    webhooks: [
      {
        ...{ name: 'inject.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'] },
        clientConfig: { url: origin + meshPath(mesh), ...(caBundle !== undefined && { caBundle }) },
        objectSelector: { matchLabels: MESHED },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
      },
    ],
  };
}

/** A JSON patch by which the webhook has another mesh. */
export function meshPatch(mesh: Mesh, origin: string): readonly object[] {
  return [{ op: 'replace', path: '/webhooks/0/clientConfig/url', value: origin + meshPath(mesh) }];
}

/** The mesh of a stored configuration. */
export function meshIn(object: KubernetesObject): Mesh | undefined {
  const [hook] = (object as MutatingWebhookConfiguration).webhooks ?? [];
  return meshOf(hook?.clientConfig.url ?? '');
}

/**
 * The answer of the webhook to an AdmissionReview.
 * @param random a text that no other pod gets
 */
export function meshAnswer(review: unknown, mesh: Mesh, random: string): object {
  const { request } = review as { readonly request: { readonly uid: string; readonly object: Pod } };
  const env = [{ name: 'STARTED', value: random }];
  const containers = sidecarsOf(mesh).map((sidecar) => ({ ...sidecar, ...(mesh.noise && { env }) }));
  const operations = containers.map((value) => ({ op: 'add', path: '/spec/containers/-', value }));
  const volume = { name: `own-${random}`, emptyDir: {} };
  const volumes = [...(request.object.spec.volumes ?? []), volume];
  const all = mesh.noise ? [...operations, { op: 'add', path: '/spec/volumes', value: volumes }] : operations;
  const patch = Buffer.from(JSON.stringify(all)).toString('base64');
  const response = { uid: request.uid, allowed: true, patchType: 'JSONPatch', patch };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
}

/** Whether a mesh injects into the pods of a Deployment. */
export function isMeshed({ spec }: Deployment): boolean {
  return spec.template.metadata?.labels?.['mesh'] === MESHED.mesh;
}

/** Whether a pod has other sidecars than a mesh gives new ones; the texts that each pod has of its own do not count. */
export function isStale({ spec }: Pod, mesh: Mesh): boolean {
  const sidecars = spec.containers.slice(1);
  const images = sidecars.map(({ image }) => image).join();
  const wanted = sidecarsOf(mesh).map(({ image }) => image);
  return images !== wanted.join() || sidecars.some(({ env = [] }) => env.length > 0 !== mesh.noise);
}

function sidecarsOf({ agent, proxy, tracer }: Mesh): { readonly name: string; readonly image: string }[] {
  const versions = Object.entries({ proxy, agent, tracer }).filter(([, version]) => version > 0);
  return versions.map(([name, version]) => ({ name, image: `${name}:${version}` }));
}
