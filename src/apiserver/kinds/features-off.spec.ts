import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { createKindRegistry } from './index.js';

const kinds = createKindRegistry();
const CONTAINER = { name: 'c', image: 'i' };

/** Prepares a new object as it is before it is validated. */
function prepared(group: string, version: string, resource: string, spec: object): unknown {
  const kind = kinds.find(group, version, resource)!;
  const object = {
    apiVersion: version,
    kind: kind.type.kind,
    metadata: { name: 'o' },
    spec: structuredClone(spec),
  } as unknown as UnstructuredObject;
  kind.applyDefaults(object);
  kind.prepareForCreate(object);
  return object.spec;
}

const MAX_UNAVAILABLE = 'spec.updateStrategy.rollingUpdate.maxUnavailable';

function statefulSet(rollingUpdate: object): UnstructuredObject {
  const spec = {
    updateStrategy: { type: 'RollingUpdate', rollingUpdate },
    template: { spec: { containers: [CONTAINER] } },
  };
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'o' }, spec };
}

const pod = (spec: object): unknown => prepared('', 'v1', 'pods', spec);

describe('fields of features that are off by default in 1.36 are dropped', () => {
  it('stop signals of containers', () => {
    const stopSignal = 'SIGTERM';
    const preStop = { sleep: { seconds: 1 } };
    const { containers } = pod({
      containers: [
        { ...CONTAINER, lifecycle: { stopSignal } },
        { ...CONTAINER, lifecycle: { stopSignal, preStop } },
      ],
    }) as { containers: object[] };
    expect(containers[0]).not.toHaveProperty('lifecycle');
    expect(containers[1]).toMatchObject({ lifecycle: { preStop } });
    expect(containers[1]).not.toHaveProperty('lifecycle.stopSignal');
  });

  it('projected certificates and trust bundles: the source stays', () => {
    const sources = [{ podCertificate: { signerName: 'a.b/c' } }, { clusterTrustBundle: { path: 'p' } }];
    const { volumes } = pod({
      containers: [CONTAINER],
      volumes: [{ name: 'v', projected: { sources } }],
    }) as {
      volumes: object[];
    };
    expect(volumes[0]).toMatchObject({ projected: { sources: [{}, {}] } });
    expect(JSON.stringify(volumes)).not.toMatch(/podCertificate|clusterTrustBundle/);
  });

  it('groups of pods that are scheduled together', () => {
    const schedulingGroup = { podGroupName: 'g' };
    expect(pod({ containers: [CONTAINER], schedulingGroup })).not.toHaveProperty('schedulingGroup');
  });

  it('how many pods of a StatefulSet may be unavailable', () => {
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } };
    const template = { spec: { containers: [CONTAINER] } };
    expect(prepared('apps', 'v1', 'statefulsets', { updateStrategy, template })).toMatchObject({
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    });
    const spec = prepared('apps', 'v1', 'statefulsets', { updateStrategy, template });
    expect(spec).not.toHaveProperty('updateStrategy.rollingUpdate.maxUnavailable');
  });

  it('not with the defaults, because the author of a new object owns them nevertheless', () => {
    const kind = kinds.find('apps', 'v1', 'statefulsets')!;
    const object = statefulSet({ maxUnavailable: 2 });
    kind.applyDefaults(object);
    expect(object).toHaveProperty(MAX_UNAVAILABLE, 2);
  });

  it('from updates, too', () => {
    const kind = kinds.find('apps', 'v1', 'statefulsets')!;
    const object = statefulSet({ maxUnavailable: 2 });
    kind.prepareForUpdate(object, statefulSet({}), '');
    expect(object).not.toHaveProperty(MAX_UNAVAILABLE);
  });

  it('sources of claims in other namespaces', () => {
    const dataSourceRef = { kind: 'PersistentVolumeClaim', name: 'x', namespace: 'other' };
    expect(prepared('', 'v1', 'persistentvolumeclaims', { dataSourceRef })).not.toHaveProperty(
      'dataSourceRef',
    );
  });
});
