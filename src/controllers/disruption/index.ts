export { disruptionController } from './disruption-controller.js';
