import { describe, expect, it } from 'vitest';
import type { ApiClient, DiscoveredResource } from '../../client/api-client/index.js';
import { ResourceNames } from './resource-names.js';

const verbs = ['get', 'list'];
const core = { group: '', version: 'v1', namespaced: true, verbs };
const autoscaler = {
  ...{ group: 'autoscaling', resource: 'horizontalpodautoscalers', kind: 'HorizontalPodAutoscaler' },
  ...{ singular: 'horizontalpodautoscaler', shortNames: ['hpa'], namespaced: true, verbs },
};
const SERVED: DiscoveredResource[] = [
  { ...core, resource: 'configmaps', singular: 'configmap', kind: 'ConfigMap', shortNames: ['cm'] },
  { ...core, resource: 'events', singular: 'event', kind: 'Event', shortNames: ['ev'] },
  { ...autoscaler, version: 'v2' },
  { ...autoscaler, version: 'v1' },
  { ...core, group: 'events.k8s.io', resource: 'events', singular: 'event', kind: 'Event' },
  // Its plural is the short name of another type, and its singular is not its kind.
  { ...core, group: 'x.dev', resource: 'cm', singular: 'one', kind: 'Map', namespaced: false },
];

function names(discovered: DiscoveredResource[] = SERVED) {
  const discover = async () => ({ resources: discovered, failedGroups: [] });
  return new ResourceNames({ discover } as unknown as ApiClient);
}

describe('the names of resources', () => {
  it.each([
    ['configmaps', 'v1 configmaps'],
    ['ConfigMap', 'v1 configmaps'],
    ['configmaps.v1.', 'v1 configmaps'],
    ['ev', 'v1 events'],
    ['event', 'v1 events'],
    ['events.events.k8s.io', 'v1 events events.k8s.io'],
    ['hpa', 'v2 horizontalpodautoscalers autoscaling'],
    ['hpa.autoscaling', 'v2 horizontalpodautoscalers autoscaling'],
    ['hpa.v1.autoscaling', 'v1 horizontalpodautoscalers autoscaling'],
    ['cm', 'v1 cm x.dev'],
    ['one', 'v1 cm x.dev'],
  ])('%s is %s', async (name, expected) => {
    const { group, resource, version } = await names().typeOf(name);
    expect([version, resource, group].join(' ').trim()).toBe(expected);
  });

  it('are short as well, in front of an object', async () => {
    const [, ...others] = SERVED;
    const short = names([SERVED[0]!, ...others.filter(({ resource }) => resource !== 'cm')]);
    expect(await short.objectOf('shop/cm/settings')).toMatchObject({
      type: { resource: 'configmaps' },
      ref: { namespace: 'shop', name: 'settings' },
    });
  });

  it('find the version that an object is of, though the server prefers another', async () => {
    const hpa = { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name: 'web' } };
    expect((await names().objectOf(hpa)).type.version).toBe('v1');
  });

  it.each(['cms', 'events.apps', 'configmaps.v1', 'hpa.v3.autoscaling'])('%s is nobody’s', async (name) => {
    await expect(names().typeOf(name)).rejects.toThrow(`the server does not have ${name}`);
  });

  it('are asked for again where they are not known yet', async () => {
    const served: DiscoveredResource[] = [];
    const late = names(served);
    await expect(late.typeOf('cm')).rejects.toThrow('does not have cm');
    served.push(SERVED[0]!);
    expect((await late.typeOf('cm')).resource).toBe('configmaps');
  });
});
