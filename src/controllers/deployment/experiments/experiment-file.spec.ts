import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../machinery/clock/index.js';
import type { PodTemplateSpec } from '../../../machinery/kubernetes/index.js';
import {
  experimentId,
  experimentKeeper,
  experimentMember,
  plannedTemplate,
  portsOf,
} from './build-experiment.js';
import { experimentService } from '../policies/experiment/experiment-services.js';
import { parseExperimentFile } from './experiment-file.js';
import type { ExperimentPlan } from './experiment-plan.js';
import { keepsExperiment, readPlan } from './experiment-plan.js';

const OWN = `{name: small, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: 'app:1'}]}}}`;
const OF_WEB = '{name: old, deployment: web, version: baseline, replicas: 2}';

function fileOf(templates: readonly string[], rest = ''): string {
  return `{name: sizes, duration: 10m, templates: [${templates.join(', ')}]${rest}}`;
}

function problemOf(text: string): string | undefined {
  const parsed = parseExperimentFile(text);
  return 'problem' in parsed ? parsed.problem : undefined;
}

describe('the file of an experiment', () => {
  it('names templates of Deployments and of its own, with defaults for the rest', () => {
    const parsed = parseExperimentFile(fileOf([OF_WEB, OWN]));
    expect(parsed).toMatchObject({
      file: { name: 'sizes', duration: 600_000, startWithin: 600_000, keep: 604_800_000, checks: [] },
    });
    expect('file' in parsed && parsed.file.templates).toMatchObject([
      { name: 'old', deployment: 'web', version: 'baseline', replicas: 2, serving: false },
      { name: 'small', replicas: 1 },
    ]);
  });

  it.each([
    ['x: [', /^is neither YAML nor JSON/],
    ['[]', 'is no object'],
    ['{name: sizes, duration: 10m}', 'templates: is no list of templates'],
    [fileOf([OWN]), 'templates: has fewer than two templates'],
    [fileOf([OWN, OWN]), 'templates.1.name: "small" is the name of another one'],
    [
      fileOf([OWN, '{name: UP, deployment: web, version: canary}']),
      'templates.1.name: is not a word of lower-case letters, digits and hyphens',
    ],
    [fileOf([OWN, '{name: b}']), 'templates.1.template: is needed, or deployment in its place, and not both'],
    [
      fileOf([OWN, '{name: b, deployment: web}']),
      'templates.1.version: is needed (baseline or canary), or revision in its place, and not both',
    ],
    [
      fileOf([OWN, '{name: b, deployment: web, version: newest}']),
      'templates.1.version: is neither baseline nor canary',
    ],
    [fileOf([OWN, '{name: b, deployment: web, revision: 0}']), /^templates\.1\.revision: /],
    [fileOf([OWN, '{name: b, template: {}}']), 'templates.1.template: is no pod template: it has no spec'],
    [fileOf([OWN, '{name: b, deployment: web, revision: 2, replicas: 51}']), /^templates\.1\.replicas: /],
    [
      fileOf([OWN, '{name: b, deployment: web, revision: 2, service: {ports: []}}']),
      /^templates\.1\.service/,
    ],
    [fileOf([OF_WEB, OWN], ', duration2: 1'), /duration2/],
    [
      fileOf([OF_WEB, OWN], ', checks: [{name: a}]'),
      'checks.0.check: is needed, or configMap in its place, and not both',
    ],
    [
      fileOf([OF_WEB, OWN], ', checks: [{name: a, of: new, configMap: c}]'),
      'checks.0.of: "new" is none of the templates old, small',
    ],
    [
      fileOf([OF_WEB, OWN], ', checks: [{name: a, of: old, against: old, configMap: c}]'),
      'checks.0.against: "old" is compared with itself',
    ],
    [
      fileOf([OF_WEB, OWN], ', checks: [{name: a, check: {count: 2}}]'),
      /^checks\.0\.check: needs one of prometheus/,
    ],
    [
      fileOf([OF_WEB, OWN], ', checks: [{name: a, check: {webhook: {url: x}}}]'),
      /^checks\.0\.check: webhook\.url: /,
    ],
    ['{name: sizes, duration: 1s, templates: []}', /^duration: "1s" is not a duration between 10s and 1d/],
  ])('is refused with the field that is wrong: %s', (text, problem) => {
    if (typeof problem === 'string') expect(problemOf(text)).toBe(problem);
    else expect(problemOf(text)).toMatch(problem);
  });
});

describe('the objects of an experiment', () => {
  const pods: PodTemplateSpec = {
    metadata: { labels: { app: 'web', 'pod-template-hash': 'abc' }, annotations: { note: 'kept' } },
    spec: { containers: [{ name: 'app', image: 'app:1', ports: [{ containerPort: 8080, name: 'http' }] }] },
  };

  function objectsOf(template: string) {
    const parsed = parseExperimentFile(fileOf([OF_WEB, template]));
    if ('problem' in parsed) throw new Error(parsed.problem);
    const { file } = parsed;
    const id = experimentId(file.name, new SeededRandom(7));
    const resolved = file.templates.map((asked) => ({ asked, pods }));
    const plan: ExperimentPlan = {
      ...{ name: file.name, durationMs: 600_000, startWithinMs: 600_000, keepMs: 0, checks: [] },
      templates: resolved.map((each) => plannedTemplate(id, each)),
    };
    const keeper = experimentKeeper({ id, namespace: 'shop' }, plan, pods);
    keeper.metadata.uid = 'uid-of-keeper';
    const [, last = { asked: file.templates[0]!, pods }] = resolved;
    const member = experimentMember(keeper, plan, last, 0);
    return { id, plan, keeper, member, last };
  }

  it('are kept by a ReplicaSet without pods, which has the plan and which nothing controls', () => {
    const { id, keeper, plan } = objectsOf(OWN);
    expect(id).toMatch(/^sizes-[a-z0-9]{5}$/);
    expect(keeper.spec.replicas).toBe(0);
    expect(keepsExperiment(keeper)).toBe(true);
    expect(readPlan(keeper)).toEqual(plan);
  });

  it('are controlled by it, and their pods have no label of their template unless they serve', () => {
    const { id, keeper, member } = objectsOf(OWN);
    expect(keepsExperiment(member)).toBe(false);
    expect(member.metadata).toMatchObject({
      name: `${id}-small`,
      ownerReferences: [
        { kind: 'ReplicaSet', name: keeper.metadata.name, uid: 'uid-of-keeper', controller: true },
      ],
    });
    const { annotations, labels } = member.spec.template?.metadata ?? {};
    expect(annotations).toEqual({ note: 'kept' });
    expect(labels).toEqual({
      'rollkeeper.dev/experiment': id,
      'rollkeeper.dev/experiment-side': 'small',
      'pod-template-hash': expect.stringMatching(/^x[0-9a-f]{10}$/),
    });
    const serving = objectsOf('{name: new, deployment: web, version: canary, serving: true}').member;
    expect(serving.spec.template?.metadata?.labels).toMatchObject({
      app: 'web',
      'rollkeeper.dev/experiment-of': 'web',
    });
  });

  it('have a Service of their own if they ask for one, which goes with their ReplicaSet', () => {
    const { last, member } = objectsOf('{name: new, deployment: web, version: canary, service: true}');
    const ports = portsOf(last);
    expect(ports).toEqual([{ name: 'http', port: 8080, targetPort: 8080 }]);
    const service = experimentService(member, ports ?? []);
    expect(service.spec.selector).toEqual(member.metadata.labels);
    expect(service.metadata).toMatchObject({
      name: member.metadata.name,
      ownerReferences: [{ name: member.metadata.name }],
    });
    expect(portsOf(objectsOf(OWN).last)).toBeUndefined();
  });

  it.each(['{}', 'nonsense', '{"name":"a","templates":[]}', '[1]'])(
    'are not known from a plan that another hand wrote: %s',
    (text) => {
      const { keeper } = objectsOf(OWN);
      keeper.metadata.annotations = { 'rollkeeper.dev/experiment-plan': text };
      expect(readPlan(keeper)).toBeUndefined();
    },
  );
});
