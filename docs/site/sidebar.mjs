// The pages of the site by their sort: a tutorial teaches, a how-to does one thing, a reference is looked up, an
// explanation is read.
const of = (text, link) => ({ text, link });

export const SIDEBAR = [
  {
    text: 'Tutorials',
    items: [
      of('What it is', '/'),
      of('Build your own controller', '/docs/KIT'),
      of('A cluster for your tests', '/docs/TESTING'),
      of('Install it', '/docs/INSTALL'),
    ],
  },
  {
    text: 'How to',
    items: [
      of('Roll out with policies', '/docs/ROLLOUTS'),
      of('Notify people of rollouts', '/docs/NOTIFICATIONS'),
      {
        text: 'Move requests with a rollout',
        collapsed: true,
        items: [
          of('Implementations of the Gateway API', '/docs/GATEWAYS'),
          of('Envoy Gateway', '/docs/traffic/envoy-gateway'),
          of('Istio', '/docs/traffic/istio'),
          of('NGINX Gateway Fabric', '/docs/traffic/nginx-gateway-fabric'),
        ],
      },
      of('Find out what is wrong', '/docs/SITUATIONS'),
      of('Use the console', '/docs/CONSOLE'),
      of('Read traces', '/docs/TRACES'),
      of('Answer an alert', '/docs/ALERTS'),
      of('Secure it', '/docs/SECURITY'),
      of('Upgrade', '/docs/UPGRADING'),
      of('Security advisories', '/docs/ADVISORIES'),
      of('Change the scheduler', '/docs/SCHEDULER'),
      of('Let pods fail', '/docs/SIMULATED-NODES'),
      {
        text: 'Come from another framework',
        collapsed: true,
        items: [
          of('controller-runtime', '/docs/coming-from/controller-runtime'),
          of('kube-rs', '/docs/coming-from/kube-rs'),
          of('kopf', '/docs/coming-from/kopf'),
          of('KubeOps', '/docs/coming-from/kubeops'),
          of('Pepr', '/docs/coming-from/pepr'),
        ],
      },
    ],
  },
  {
    text: 'Reference',
    items: [
      of('Command line', '/docs/CLI'),
      of('Options', '/docs/OPTIONS'),
      of('The kit’s exports', '/docs/reference'),
      of('Controllers', '/docs/CONTROLLERS'),
      of('Kinds of the API', '/docs/API'),
      of('The API server', '/docs/API-SERVER'),
      of('Who may do what', '/docs/API-ACCESS'),
      of('Metrics', '/docs/METRICS'),
      of('Health checks', '/docs/HEALTH'),
      of('Changelog', '/CHANGELOG'),
    ],
  },
  {
    text: 'Explanation',
    items: [
      of('What it promises', '/docs/RELIABILITY'),
      of('Simulation', '/docs/SIMULATION'),
      of('Part of a cluster', '/docs/SCOPE'),
      of('Leadership', '/docs/LEADERSHIP'),
      of('Redis', '/docs/REDIS'),
      of('Performance', '/docs/PERFORMANCE'),
      of('Slots', '/docs/SCALE'),
      of('Alternatives', '/docs/ALTERNATIVES'),
      of('Rollouts compared', '/docs/ROLLOUTS-COMPARED'),
      of('Architecture', '/ARCHITECTURE'),
      of('Five walks through the code', '/docs/WALKS'),
      of('Glossary', '/docs/GLOSSARY'),
      of('Contributing', '/CONTRIBUTING'),
    ],
  },
];

/** Every page that the sidebar names. */
export function linkedPages(items = SIDEBAR) {
  return items.flatMap((item) => [...(item.link ? [item.link] : []), ...linkedPages(item.items ?? [])]);
}
