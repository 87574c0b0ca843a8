"""What Python's `kubernetes` must be able to do. Prints one JSON object a line: {"name": …, "error"?: …}."""

import itertools
import json
import time
import traceback

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException
from kubernetes.stream import stream

GROUP = "python.test.dev"
PATIENCE_SECONDS = 60
CHECKS = []


def check(name):
    def register(function):
        CHECKS.append((name, function))
        return function

    return register


def wait_for(condition, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)


def refused(status, reason, call):
    try:
        call()
    except ApiException as error:
        body = json.loads(error.body)
        assert (error.status, body.get("reason")) == (status, reason), body
        return body
    raise AssertionError("the server did not refuse")


def deployment(name, replicas):
    labels = {"app": name}
    container = client.V1Container(name="web", image="nginx:1.27")
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(containers=[container])
    )
    selector = client.V1LabelSelector(match_labels=labels)
    spec = client.V1DeploymentSpec(replicas=replicas, selector=selector, template=template)
    return client.V1Deployment(metadata=client.V1ObjectMeta(name=name), spec=spec)


@check("creates, reads, replaces and deletes, and is told why not")
def crud(namespace):
    core = client.CoreV1Api()
    body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="settings"), data={"color": "red"})
    created = core.create_namespaced_config_map(namespace, body)
    assert created.metadata.creation_timestamp.year > 2000
    refused(409, "AlreadyExists", lambda: core.create_namespaced_config_map(namespace, body))
    stale = core.read_namespaced_config_map("settings", namespace)
    body.data = {"color": "blue"}
    core.replace_namespaced_config_map("settings", namespace, body)
    refused(409, "Conflict", lambda: core.replace_namespaced_config_map("settings", namespace, stale))
    assert core.read_namespaced_config_map("settings", namespace).data == {"color": "blue"}
    assert core.delete_namespaced_config_map("settings", namespace).status == "Success"
    refused(404, "NotFound", lambda: core.read_namespaced_config_map("settings", namespace))


@check("patches by merge, by strategy and by JSON patch")
def patches(namespace):
    apps = client.AppsV1Api()
    apps.create_namespaced_deployment(namespace, deployment("web", 0))
    side = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "busybox"}]}}}}
    patched = apps.patch_namespaced_deployment("web", namespace, side)
    assert sorted(c.name for c in patched.spec.template.spec.containers) == ["side", "web"]
    failing = [{"op": "test", "path": "/spec/replicas", "value": 9}]
    refused(422, "Invalid", lambda: apps.patch_namespaced_deployment("web", namespace, failing))
    operations = [{"op": "add", "path": "/spec/minReadySeconds", "value": 5}]
    assert apps.patch_namespaced_deployment("web", namespace, operations).spec.min_ready_seconds == 5
    scaled = apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 2}})
    assert scaled.spec.replicas == 2


@check("lists page by page, by labels, and deletes a collection")
def pages(namespace):
    core = client.CoreV1Api()
    for number in range(7):
        labels = {"parity": "odd" if number % 2 else "even"}
        metadata = client.V1ObjectMeta(name=f"secret-{number}", labels=labels)
        core.create_namespaced_secret(namespace, client.V1Secret(metadata=metadata, string_data={"n": "1"}))
    sizes, token = [], None
    while token != "":
        page = core.list_namespaced_secret(namespace, limit=3, _continue=token)
        sizes.append(len(page.items))
        token = page.metadata._continue or ""
    assert sizes == [3, 3, 1], sizes
    core.delete_collection_namespaced_secret(namespace, label_selector="parity=odd")
    assert len(core.list_namespaced_secret(namespace).items) == 4


@check("sees a rollout through a watch, each change once and in order")
def watches(namespace):
    apps = client.AppsV1Api()
    version = apps.list_namespaced_deployment(namespace).metadata.resource_version
    apps.create_namespaced_deployment(namespace, deployment("web", 2))
    watching = watch.Watch()
    seen = []
    events = watching.stream(
        apps.list_namespaced_deployment,
        namespace,
        resource_version=version,
        timeout_seconds=PATIENCE_SECONDS,
    )
    for event in events:
        seen.append((event["type"], int(event["object"].metadata.resource_version)))
        if event["object"].status.available_replicas == 2:
            watching.stop()
    assert seen[0][0] == "ADDED" and {kind for kind, _ in seen[1:]} == {"MODIFIED"}, seen
    versions = [version for _, version in seen]
    assert versions == sorted(set(versions)), versions
    pods = client.CoreV1Api().list_namespaced_pod(namespace, field_selector="status.phase=Running")
    assert len(pods.items) == 2
    apps.delete_namespaced_deployment("web", namespace)


@check("ends a watch cleanly when its time is over, and is told of a resourceVersion that is gone")
def watch_ends(namespace):
    core = client.CoreV1Api()
    events = watch.Watch().stream(core.list_namespaced_secret, namespace, timeout_seconds=1)
    assert list(events) == []
    gone = watch.Watch().stream(core.list_namespaced_secret, namespace, resource_version="1", timeout_seconds=1)
    try:
        list(gone)
    except ApiException as error:
        assert error.status == 410, error


@check("finds any kind by discovery, and applies it server-side")
def dynamic_client(namespace):
    api = dynamic.DynamicClient(client.ApiClient())
    autoscalers = api.resources.get(api_version="autoscaling/v2", kind="HorizontalPodAutoscaler")
    body = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
    }

    def apply(manager, **options):
        # As text: the client's oldest versions take no other body of this type.
        at = {"namespace": namespace, "name": "web", "field_manager": manager}
        return autoscalers.server_side_apply(body=json.dumps(body), **at, **options)

    apply("one")
    body["spec"]["maxReplicas"] = 5
    try:
        apply("two")
        raise AssertionError("the server did not refuse")
    except dynamic.exceptions.ConflictError as error:
        assert 'conflict with "one": .spec.maxReplicas' in json.loads(error.body)["message"], error.body
    taken = apply("two", force_conflicts=True)
    assert taken.spec.maxReplicas == 5
    assert [item.metadata.name for item in autoscalers.get(namespace=namespace).items] == ["web"]
    short = api.resources.get(short_names=["hpa"], api_version="autoscaling/v2")
    assert short.kind == "HorizontalPodAutoscaler"
    autoscalers.delete(name="web", namespace=namespace)


def gauges_definition():
    replicas = {"type": "integer", "minimum": 0}
    spec = {"type": "object", "properties": {"replicas": replicas, "unit": {"type": "string", "default": "ms"}}}
    status = {"type": "object", "properties": {"replicas": replicas}}
    schema = {"type": "object", "properties": {"spec": spec, "status": status}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"gauges.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "gauges", "singular": "gauge", "kind": "Gauge", "shortNames": ["ga"]},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}},
                }
            ],
        },
    }


@check("works with objects of a kind that is defined a moment before")
def custom_objects(namespace):
    definitions = client.ApiextensionsV1Api()
    definitions.create_custom_resource_definition(gauges_definition())

    def is_established():
        status = definitions.read_custom_resource_definition(f"gauges.{GROUP}").status
        conditions = (status and status.conditions) or []
        return any(each.type == "Established" and each.status == "True" for each in conditions)

    wait_for(is_established, "the definition to be established")
    custom = client.CustomObjectsApi()
    at = (GROUP, "v1", namespace, "gauges")
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Gauge", "metadata": {"name": "one"}, "spec": {"replicas": 1}}
    assert custom.create_namespaced_custom_object(*at, body)["spec"]["unit"] == "ms"
    wrong = {**body, "metadata": {"name": "two"}, "spec": {"replicas": -1}}
    refused(422, "Invalid", lambda: custom.create_namespaced_custom_object(*at, wrong))
    custom.patch_namespaced_custom_object(*at, "one", {"spec": {"unit": "s"}})
    custom.patch_namespaced_custom_object_status(*at, "one", {"status": {"replicas": 1}})
    read = custom.get_namespaced_custom_object(*at, "one")
    assert read["spec"] == {"replicas": 1, "unit": "s"} and read["status"] == {"replicas": 1}, read
    gauges = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version=f"{GROUP}/v1", kind="Gauge")
    version = gauges.get(namespace=namespace).metadata.resourceVersion
    custom.delete_namespaced_custom_object(*at, "one")
    events = gauges.watch(namespace=namespace, resource_version=version, timeout=PATIENCE_SECONDS)
    assert [event["type"] for event in itertools.islice(events, 1)] == ["DELETED"]
    definitions.delete_custom_resource_definition(f"gauges.{GROUP}")


@check("creates from YAML, reads a log, and is refused an exec")
def pods(namespace):
    container = {"name": "web", "image": "nginx"}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "talks", "annotations": {"node.rollkeeper.dev/logs.web": "one\ntwo\n"}},
        "spec": {"containers": [container]},
    }
    utils.create_from_dict(client.ApiClient(), pod, namespace=namespace)
    core = client.CoreV1Api()
    is_running = lambda: core.read_namespaced_pod("talks", namespace).status.phase == "Running"
    wait_for(is_running, "the pod to run")
    assert core.read_namespaced_pod_log("talks", namespace, tail_lines=1) == "two\n"
    try:
        stream(core.connect_get_namespaced_pod_exec, "talks", namespace, command=["ls"], stdout=True)
        raise AssertionError("the server did not refuse")
    except ApiException as error:
        assert "500" in str(error), error


@check("may do what roles say")
def access(namespace):
    core = client.CoreV1Api()
    core.create_namespaced_service_account(namespace, client.V1ServiceAccount(metadata={"name": "reader"}))
    request = {"spec": {"audiences": [], "expirationSeconds": 3600}}
    token = core.create_namespaced_service_account_token("reader", namespace, request).status.token
    settings = client.Configuration.get_default_copy()
    settings.api_key = {"authorization": f"Bearer {token}"}
    settings.api_key_prefix = {}
    reader = client.CoreV1Api(client.ApiClient(settings))
    refused(403, "Forbidden", lambda: reader.list_namespaced_secret(namespace))
    settings.api_key = {"authorization": "Bearer nobody"}
    refused(401, "Unauthorized", lambda: reader.list_namespaced_secret(namespace))
    review = {"spec": {"resourceAttributes": {"namespace": namespace, "verb": "list", "resource": "secrets"}}}
    allowed = client.AuthorizationV1Api().create_self_subject_access_review(review)
    assert allowed.status.allowed is True


def main():
    config.load_kube_config()
    core = client.CoreV1Api()
    for number, (name, run) in enumerate(CHECKS):
        namespace = f"python-{number}"
        core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=namespace)))
        result = {"name": name}
        try:
            run(namespace)
        except Exception:
            result["error"] = traceback.format_exc()
        core.delete_namespace(namespace)
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
