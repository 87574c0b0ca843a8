export { BROKEN_IMAGE_WORDS, CRASHING_IMAGE_WORDS, judgeImage } from './image-reference.js';
export type { ImageVerdict } from './image-reference.js';
export { NodeSimulator } from './node-simulator.js';
export type { NodeSimulatorDependencies } from './node-simulator.js';
export { MAX_NODES, compileNodeSimulatorOptions } from './node-simulator.options.js';
export type { CompiledNodeSimulatorOptions, NodeSimulatorOptions } from './node-simulator.options.js';
export { BEHAVIOUR_ANNOTATION, POD_BEHAVIOURS, READY_AFTER_ANNOTATION } from './pod-behaviour.js';
export { SimulatedNodes } from './simulated-nodes.js';
export type { SimulatedNodesDependencies } from './simulated-nodes.js';
