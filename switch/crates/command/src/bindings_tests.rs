use super::*;

fn right(text: &str) -> Authorization {
    read_text("b.toml", text).unwrap_or_else(|error| panic!("{error}"))
}

fn client(name: &str) -> Binding {
    Binding {
        name: name.to_owned(),
        ..Binding::default()
    }
}

#[test]
fn clients() {
    let found = right(
        r#"
        # who may do what
        [[client]]
        name = "a"
        roles = ["", "packets"]
        devices = [1, 0x2, 18446744073709551615]

        [[client]]
        name = "b"
        read_only = true
        "#,
    );
    let expected = [
        Binding {
            roles: Some(BTreeSet::from([String::new(), "packets".to_owned()])),
            devices: Some(BTreeSet::from([1, 2, u64::MAX])),
            ..client("a")
        },
        Binding {
            read_only: true,
            ..client("b")
        },
    ];
    assert_eq!(found.clients, expected);
    assert_eq!(found.roles, []);
}

#[test]
fn clients_inline() {
    let found = right("client = [{name = \"a\"}, {name = \"b\", devices = [1]}]");
    let bound = Binding {
        devices: Some(BTreeSet::from([1])),
        ..client("b")
    };
    assert_eq!(found.clients, [client("a"), bound]);
}

#[test]
fn roles() {
    let found = right(
        r#"
        [[client]]
        name = "a"
        [[role]]
        name = "packets"
        objects = ["ingress.acl", 0x2000001, 7]
        packet_in = true
        packet_out = true
        [[role]]
        name = "admin"
        pipeline = true
        replication = true
        gnmi = ["/interfaces", "/qos"]
        "#,
    );
    let expected = [
        RoleRights {
            name: "packets".to_owned(),
            objects: Some(vec![
                Object::Name("ingress.acl".to_owned()),
                Object::Id(0x200_0001),
                Object::Id(7),
            ]),
            packet_in: true,
            packet_out: true,
            ..RoleRights::default()
        },
        RoleRights {
            name: "admin".to_owned(),
            pipeline: true,
            replication: true,
            gnmi: vec!["/interfaces".to_owned(), "/qos".to_owned()],
            ..RoleRights::default()
        },
    ];
    assert_eq!(found.roles, expected);
}

#[test]
fn wrong() {
    let of_client = "[[client]]\nname = 'a'\n";
    let cases = [
        ("", "b.toml: no [[client]]: no client could do anything"),
        (
            "[[role]]\nname = 'x'",
            "b.toml: no [[client]]: no client could do anything",
        ),
        (
            "x = 1",
            "b.toml:1: found 'x', expected [[client]] or [[role]]",
        ),
        (
            "\n[server]\n",
            "b.toml:2: found 'server', expected [[client]] or [[role]]",
        ),
        (
            "\n[client]\nname = 'a'",
            "b.toml:2: expected [[client]], in double brackets",
        ),
        (
            "client = [1]",
            "b.toml:1: expected [[client]], in double brackets",
        ),
        ("\n[[client]]\nroles = []", "b.toml:2: name is missing"),
        (
            "[[client]]\nname = 7",
            "b.toml:2: name: found 7, expected a string",
        ),
        (
            "[[client]]\nname = ''",
            "b.toml:2: name: found '', expected a string",
        ),
        (
            "[[client]]\nname = 'a'\n[[client]]\nname = 'b'\nrole = 'x'",
            "b.toml:5: found 'role', expected one of name, roles, devices, read_only",
        ),
        (
            &format!("{of_client}roles = 'x'"),
            "b.toml:3: roles: found 'x', expected a list of strings",
        ),
        (
            &format!("{of_client}roles = [1]"),
            "b.toml:3: roles: found 1, expected strings",
        ),
        (
            &format!("{of_client}\ndevices = [-1]"),
            "b.toml:4: devices: found -1, expected device ids",
        ),
        (
            &format!("{of_client}devices = [\n  1,\n  true\n]"),
            "b.toml:5: devices: found true, expected device ids",
        ),
        (
            &format!("{of_client}read_only = 1"),
            "b.toml:3: read_only: found 1, expected true or false",
        ),
        (
            &format!("{of_client}[[role]]\npacket_in = true"),
            "b.toml:3: name is missing",
        ),
        (
            &format!("{of_client}[role]\nname = 'r'"),
            "b.toml:3: expected [[role]], in double brackets",
        ),
        (
            &format!("{of_client}[[role]]\nname = 'r'\nread_only = true"),
            "b.toml:5: found 'read_only', expected one of name, objects, packet_in, packet_out, pipeline, \
             replication, gnmi",
        ),
        (
            &format!("{of_client}[[role]]\nname = 'r'\nobjects = 'acl'"),
            "b.toml:5: objects: found 'acl', expected a list of names or ids of objects",
        ),
        (
            &format!("{of_client}[[role]]\nname = 'r'\nobjects = ['acl', 0]"),
            "b.toml:5: objects: found 0, expected names or ids of objects",
        ),
        (
            &format!("{of_client}[[role]]\nname = 'r'\nobjects = [4294967296]"),
            "b.toml:5: objects: found 4294967296, expected names or ids of objects",
        ),
        (
            &format!("{of_client}[[role]]\nname = 'r'\ngnmi = [1]"),
            "b.toml:5: gnmi: found 1, expected paths",
        ),
        (
            &format!("{of_client}[[role]]\nname = 'r'\n[[role]]\nname = 'r'"),
            "b.toml:6: name: found 'r' a second time",
        ),
    ];
    for (text, expected) in cases {
        let found = read_text("b.toml", text).map(|_| ());
        assert_eq!(found, input(expected), "{text}");
    }
}

#[test]
fn not_toml() {
    for (text, place) in [
        ("[[client]\n", "(at line 1, column "),
        ("[[client]]\nname = \n", "(at line 2, column "),
        (
            "[[client]]\nname = 'a'\nname = 'b'\n",
            "(at line 3, column ",
        ),
    ] {
        let found = read_text("b.toml", text).expect_err(text).to_string();
        assert!(found.starts_with("b.toml: "), "{found}");
        assert!(found.contains(place) && !found.contains('\n'), "{found}");
    }
}

#[test]
fn unreadable() {
    let folder = std::env::temp_dir();
    let absent = folder.join("phb-switch-absent.toml");
    let found = read(&absent).expect_err("it is not there").to_string();
    assert_eq!(
        found,
        format!(
            "--client-bindings {}: No such file or directory",
            absent.display()
        )
    );
    let binary = folder.join(format!("phb-switch-binary-{}", std::process::id()));
    std::fs::write(&binary, b"\xff").expect("a temporary file can be written");
    let found = read(&binary).expect_err("it is no text").to_string();
    std::fs::remove_file(&binary).expect("it is there");
    assert!(found.ends_with(": not TOML: it is not UTF-8"), "{found}");
}
