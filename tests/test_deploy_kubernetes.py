"""The manifests are objects that Kubernetes knows, fit each other and commands, and keep to its restricted standard.

No cluster and no schema is asked: `FIELDS` is what these objects may have, as Kubernetes' API says it.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
import typer
import yaml

from phb.cli import run
from phb.cli.commands import app
from phb.inventory import read_inventory

FOLDER = Path(__file__).parents[1] / "deploy" / "kubernetes"
KUSTOMIZATION = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
EXAMPLE = "secrets.example.yaml"
APART = {"kustomization.yaml", EXAMPLE}
KINDS = {
    "Namespace": ("v1", {"metadata"}),
    "ConfigMap": ("v1", {"metadata", "data"}),
    "Secret": ("v1", {"metadata", "stringData", "type"}),
    "Service": ("v1", {"metadata", "spec"}),
    "Deployment": ("apps/v1", {"metadata", "spec"}),
    "PodDisruptionBudget": ("policy/v1", {"metadata", "spec"}),
    "NetworkPolicy": ("networking.k8s.io/v1", {"metadata", "spec"}),
}
# By the place in an object: what may stand there. Below other places anything may.
FIELDS = {
    "Service.spec": {"selector", "ports"},
    "Service.spec.ports": {"name", "port", "targetPort"},
    "PodDisruptionBudget.spec": {"maxUnavailable", "selector"},
    "NetworkPolicy.spec": {"podSelector", "policyTypes", "ingress", "egress"},
    "Deployment.spec": {"replicas", "selector", "template"},
    "Deployment.spec.template": {"metadata", "spec"},
    "Deployment.spec.template.spec": {
        *("automountServiceAccountToken", "enableServiceLinks", "securityContext", "topologySpreadConstraints"),
        *("containers", "volumes"),
    },
    "Deployment.spec.template.spec.securityContext": {
        *("runAsNonRoot", "runAsUser", "runAsGroup", "fsGroup", "seccompProfile")
    },
    "Deployment.spec.template.spec.topologySpreadConstraints": {
        *("maxSkew", "topologyKey", "whenUnsatisfiable", "labelSelector")
    },
    "Deployment.spec.template.spec.containers": {
        *("name", "image", "command", "args", "env", "ports", "startupProbe", "livenessProbe", "readinessProbe"),
        *("securityContext", "resources", "volumeMounts"),
    },
    "Deployment.spec.template.spec.containers.securityContext": {
        *("allowPrivilegeEscalation", "readOnlyRootFilesystem", "capabilities")
    },
    "Deployment.spec.template.spec.containers.ports": {"name", "containerPort"},
    "Deployment.spec.template.spec.containers.volumeMounts": {"name", "mountPath", "readOnly"},
    "Deployment.spec.template.spec.containers.livenessProbe": {
        *("httpGet", "periodSeconds", "timeoutSeconds", "failureThreshold")
    },
    "Deployment.spec.template.spec.containers.livenessProbe.httpGet": {"path", "port", "scheme"},
    "Deployment.spec.template.spec.volumes": {"name", "configMap", "secret", "emptyDir"},
}


def objects(*, secrets=False):
    files = [EXAMPLE] if secrets else [path.name for path in FOLDER.iterdir() if path.name not in APART]
    return [each for file in sorted(files) for each in yaml.safe_load_all((FOLDER / file).read_text())]


def named(kind, name, *, secrets=False):
    (found,) = [each for each in objects(secrets=secrets) if each["kind"] == kind and each["metadata"]["name"] == name]
    return found


DEPLOYMENTS = [each for each in objects() if each["kind"] == "Deployment"]


def pod(deployment):
    return deployment["spec"]["template"]["spec"]


def places(value, place):
    """Every dict of an object, with its place."""
    if isinstance(value, list):
        for each in value:
            yield from places(each, place)
    elif isinstance(value, dict):
        yield place, value
        for key, each in value.items():
            yield from places(each, f"{place}.{key}")


def test_every_file_is_a_resource_of_the_kustomization():
    assert set(KUSTOMIZATION["resources"]) == {path.name for path in FOLDER.iterdir()} - APART


@pytest.mark.parametrize("one", [*objects(), *objects(secrets=True)], ids=lambda one: one["metadata"]["name"])
def test_kinds_and_fields_are_known(one):
    version, fields = KINDS[one["kind"]]
    assert one["apiVersion"] == version
    assert set(one) <= {"apiVersion", "kind"} | fields
    assert set(one["metadata"]) <= {"name", "namespace", "labels"}
    for place, value in places(one, one["kind"]):
        assert set(value) <= FIELDS.get(place, set(value)), place


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda one: one["metadata"]["name"])
def test_pods_keep_to_the_restricted_standard(deployment):
    spec = pod(deployment)
    assert named("Namespace", "phb")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] > 0  # the image's user has a name only, which Kubernetes can't judge
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = spec["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"requests", "limits"} == set(container["resources"])


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda one: one["metadata"]["name"])
def test_what_a_pod_asks_for_is_there(deployment):
    """Volumes, secrets with their keys, labels, and files below what is mounted."""
    spec = pod(deployment)
    (container,) = spec["containers"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"] == labels
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    mounted = {mount["mountPath"]: volumes[mount["name"]] for mount in container["volumeMounts"]}
    assert len(mounted) == len(volumes)

    def has(path):
        folder, _, file = path.rpartition("/")
        volume = mounted[folder]
        if "configMap" in volume:
            return file in named("ConfigMap", volume["configMap"]["name"])["data"]
        return file in named("Secret", volume["secret"]["secretName"], secrets=True)["stringData"]

    paths = [word.rpartition("=")[2] for word in container["args"] if "/etc/phb/" in word]
    inventory = yaml.safe_load(named("ConfigMap", "phb-network")["data"]["network.yaml"])
    paths += inventory["defaults"]["tls"].values()
    (url,) = [each for each in container["env"] if each["name"] == "PHB_STATE"]
    secret = named("Secret", url["valueFrom"]["secretKeyRef"]["name"], secrets=True)
    paths.append(secret["stringData"][url["valueFrom"]["secretKeyRef"]["key"]].partition("sslrootcert=")[2])
    assert len(paths) >= 5
    assert [path for path in paths if not has(path)] == []


def test_no_secret_stands_in_a_manifest():
    for deployment in DEPLOYMENTS:
        (container,) = pod(deployment)["containers"]
        assert {each["name"] for each in container["env"] if "value" in each} == {"HOME"}
    for secret in objects(secrets=True):
        values = [value for key, value in secret["stringData"].items() if key != "url"]
        assert set(values) <= {"CHANGE-ME"}
        assert ":CHANGE-ME@" in secret["stringData"].get("url", ":CHANGE-ME@")


def test_ports_agree():
    (container,) = pod(named("Deployment", "phb-monitor"))["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    said = dict(word.removeprefix("--").split("=") for word in container["args"] if "=" in word)
    assert said["listen"].rpartition(":")[2] == str(ports["page"])
    assert said["metrics"].rpartition(":")[2] == str(ports["metrics"])
    assert {port["targetPort"] for port in named("Service", "phb-monitor")["spec"]["ports"]} == set(ports)
    ingress = named("NetworkPolicy", "phb-monitor")["spec"]["ingress"]
    assert {port["port"] for rule in ingress for port in rule["ports"]} == set(ports)
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"] == {"path": "/healthz", "port": "page", "scheme": "HTTPS"}


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda one: one["metadata"]["name"])
def test_commands_have_these_options(deployment):
    (container,) = pod(deployment)["containers"]
    name, *words = container["args"]
    command = typer.main.get_command(app).commands[name]
    known = {option for each in command.params for option in each.opts}
    assert container["command"] == ["phb"]
    assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known


def test_the_network_is_one(tmp_path):
    for name, text in named("ConfigMap", "phb-network")["data"].items():
        (tmp_path / name).write_text(text)
    (switch,) = read_inventory(tmp_path / "network.yaml")
    assert switch.tls is not None
    assert run(["check", *switch.policies]) == 0


def test_kustomize_takes_all_of_it():
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    built = subprocess.run(["kubectl", "kustomize", str(FOLDER)], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    made = list(yaml.safe_load_all(built.stdout))
    assert len(made) == len(objects())
    images = {pod(each)["containers"][0]["image"] for each in made if each["kind"] == "Deployment"}
    assert images == {"registry.example.net/phb:0.1.0"}
    assert {each["metadata"].get("namespace") for each in made if each["kind"] != "Namespace"} == {"phb"}
