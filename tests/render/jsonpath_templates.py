"""JSONPath templates with what kubectl makes of them; the e2e tests ask the real one."""

from __future__ import annotations

from typing import Any

VALUES: dict[str, Any] = {
    "apiVersion": "spread.kubectl.dev/v1alpha2",
    "kind": "SkewReport",
    "metadata": {"version": "1", "kubeVersion": "v1.36"},
    "rows": [
        {
            "name": "web",
            "skew": 2,
            "status": "Blocked",
            "default": False,
            "next": [],
            "jam": None,
            "domains": [
                {"value": "a", "matching": 3, "nodes": ["a1", "a2", "a3"]},
                {"value": "b", "matching": 1, "nodes": ["b1"]},
            ],
        },
        {
            "name": "<api> & 'co'",
            "skew": -1,
            "default": True,
            "next": ["b1", "c1"],
            "labels": {"app.kubernetes.io/name": "api", "a.b": {"c": "deep"}},
            "domains": [{"value": "\u2028ü", "matching": 0, "nodes": []}],
        },
    ],
}
"""What stands for a report; a list under ``items`` would make kubectl print each item alone."""

TEMPLATES: dict[str, str] = {
    "{.kind}": "SkewReport",
    "{ .kind }": "SkewReport",
    "{$.kind}": "SkewReport",
    "{@.kind}": "SkewReport",
    "kind: {.kind}!": "kind: SkewReport!",
    '{.kind}{"\\n"}': "SkewReport\n",
    '{"\\t"}{"\\u00fc"}{"\\""}{"{}"}': '\tü"{}',
    "{'single \"quoted\"'}": 'single "quoted"',
    "{.metadata}": '{"kubeVersion":"v1.36","version":"1"}',
    "{.metadata.version}{.kind}": "1SkewReport",
    "{.missing}": "",
    "{.missing.deeper}x": "x",
    "{.rows[*].missing}x": "x",
    "{.rows[*].name}": "web <api> & 'co'",
    "{.rows.*.skew}": "2 -1",
    "{.rows[0].name}": "web",
    "{.rows[-1].skew}": "-1",
    "{.rows[0].jam}": "null",
    "{.rows[*].default}": "false true",
    "{.rows[*].next}": '[] ["b1","c1"]',
    "{.rows[1].labels}": '{"a.b":{"c":"deep"},"app.kubernetes.io/name":"api"}',
    "{.rows[0]['name']}": "web",
    "{['kind']}": "SkewReport",
    "{.rows[0].domains[0].nodes[0,2]}": "a1 a3",
    "{.rows[0].domains[0].nodes[0:2]}": "a1 a2",
    "{.rows[0].domains[0].nodes[1:]}": "a2 a3",
    "{.rows[0].domains[0].nodes[:2]}": "a1 a2",
    "{.rows[0].domains[0].nodes[-2:]}": "a2 a3",
    "{.rows[0].domains[0].nodes[::2]}": "a1 a3",
    "{.rows[0].domains[0].nodes[0:0]}x": "x",
    "{.rows[*].domains[*].value}": "a b \u2028ü",
    "{..matching}": "3 1 0",
    "{.rows[0]..value}": "a b",
    "{.rows[0]..nodes[0]}": "a1 b1",
    '{.rows[?(@.name=="web")].skew}': "2",
    "{.rows[?(@.name=='web')].skew}": "2",
    "{.rows[?(@.name == 'web')].skew}": "2",
    "{.rows[?(@.name!='web')].skew}": "-1",
    "{.rows[?(@.skew>0)].name}": "web",
    "{.rows[?(@.skew<=-1)].name}": "<api> & 'co'",
    "{.rows[?(@.skew>=2)].name}": "web",
    "{.rows[?(@.default==true)].skew}": "-1",
    "{.rows[?(@.labels)].skew}": "-1",
    "{.rows[0].domains[?(@.matching>1)].nodes[*]}": "a1 a2 a3",
    "{.rows[?(@.skew==2)].domains[?(@.value=='b')].nodes}": '["b1"]',
    "{.rows[?(@.name==')')].skew}x": "x",
    '{range .rows[*]}{.name}{"\\t"}{.skew}{"\\n"}{end}': "web\t2\n<api> & 'co'\t-1\n",
    "{range .rows[*]}{@.skew};{end}done": "2;-1;done",
    "{range .rows[*]}[{range .domains[*]}{.value}={.matching} {end}]{end}": "[a=3 b=1 ][\u2028ü=0 ]",
    "{range .missing[*]}never{end}x": "x",
    "{range .rows[?(@.skew>0)]}{.name}{end}": "web",
}
"""Template → what is printed."""

REFUSED: tuple[str, ...] = (
    "{.kind",
    '{"open}',
    "{kind}",
    "{end}",
    "{.rows[}",
    "{.rows[x]}",
    "{.rows[?(@.skew>0]}",
    "{.rows[?(@.skew=~2)].name}",
    "{.rows[....name}",
    "{#}",
    "{.rows[1].labels.app\\.kubernetes\\.io/name}",
    '{.kind "x"}',
    '{"a" "b"}',
    '{"\\q"}',
    "{range .rows[*]}{.name}",
)
"""Templates that are malformed or not supported."""
